import * as z from 'zod';
import { text } from './shapes.ts';

/** Documented values of the styling. Source: docs/platform-notes.md#customization */
const styling = z.looseObject({
  theme: z.enum(['clean', 'muted', 'bold', 'gradient']).optional(),
  corners: z.enum(['straight', 'rounded', 'circular']).optional(),
  depth: z.enum(['subtle', 'flat']).optional(),
  links: z.enum(['default', 'accent']).optional(),
  icons: z.enum(['regular', 'solid', 'duotone', 'light', 'thin']).optional(),
  sidebar: z
    .looseObject({
      background: z.enum(['default', 'filled']).optional(),
      list: z.enum(['default', 'pill', 'line']).optional(),
    })
    .optional(),
  search: z.enum(['prominent', 'subtle']).optional(),
});

/**
 * Customization of a site. It is written as a whole: send what was read, with the change. The complete set of fields is
 * not documented, so unknown fields are sent too. Source: docs/platform-notes.md#customization
 */
export const customization = z.looseObject({
  title: text(2, 128).optional(),
  styling: styling.optional(),
  themes: z.looseObject({ default: z.enum(['light', 'dark', 'system']).optional() }).optional(),
  ai: z.looseObject({ mode: z.enum(['none', 'search', 'assistant']).optional() }).optional(),
  externalLinks: z.looseObject({ target: z.enum(['self', 'blank']).optional() }).optional(),
});
