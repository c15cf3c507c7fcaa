import * as z from 'zod';
import { text } from './shapes.ts';

/** Values of the looks that are documented (supplement, section 7: Customization styling). */
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
 * How a site looks, as it is written: whole, so that what was read is sent back with the change. Fields that are not
 * documented are sent along, as the complete set of them is documented nowhere (API document, Other shapes).
 */
export const customization = z.looseObject({
  title: text(2, 128).optional(),
  styling: styling.optional(),
  themes: z.looseObject({ default: z.enum(['light', 'dark', 'system']).optional() }).optional(),
  ai: z.looseObject({ mode: z.enum(['none', 'search', 'assistant']).optional() }).optional(),
  externalLinks: z.looseObject({ target: z.enum(['self', 'blank']).optional() }).optional(),
});
