/*
 * Templates. No document names any, or says what is in one. Decisions of this emulator: every id names one, which writes
 * a page with that title, on which each of the given references has a line with its name and a link; what is referred to
 * has to be there (400), also in the content that the page goes to.
 */

import type { ContentRef, TemplateParams } from '../documents/content-reference.ts';
import { referenced } from '../model/answers.ts';
import type { Context } from '../model/operation.ts';
import type { SpaceRecord } from '../spaces/records.ts';
import type { Place } from './content.ts';
import { writeContent } from './edit.ts';
import { refOf, targetOf } from './links.ts';
import { surroundings } from './pages.ts';
import type { PageSeed } from './seed.ts';

interface Template {
  readonly id: string;
  readonly params?: TemplateParams | undefined;
}

/** Where the app shows what no path of the space leads to. */
function appAddress(context: Context, space: SpaceRecord, ref: ContentRef): string {
  const app = `${context.base}/app`;
  switch (ref.kind) {
    case 'user':
      return `${app}/u/${ref.user}`;
    case 'collection':
      return `${app}/c/${ref.collection}`;
    case 'openapi':
      return `${app}/o/${space.organization}/openapi/${ref.spec}`;
    case 'url':
      return ref.url;
    default:
      return `${app}/s/${ref.space ?? space.id}`;
  }
}

/** A line of Markdown that refers to it. */
function lineFor(context: Context, place: Place, name: string, ref: ContentRef): string {
  const around = surroundings(context, place);
  const field = `body.params.contentRefs.${name}`;
  const target = referenced(targetOf(context, around, ref), field, ref.kind, JSON.stringify(ref));
  const isHere = 'space' in target && target.space === place.space.id;
  if (target.kind === 'reusable-content' && isHere) {
    return `{% include "${target.reusable.title}" %}`;
  }
  if (target.kind === 'page' && isHere) {
    return `[${name}](</${target.page.path}${target.anchor === undefined ? '' : `#${target.anchor}`}>)`;
  }
  if (target.kind === 'file' && isHere) {
    return `[${name}](</${target.file.path}>)`;
  }
  return `[${name}](<${appAddress(context, place.space, refOf(target))}>)`;
}

/** The page that the template makes of the place, not written yet; 400 for what is referred to and is not there. */
export function templatePage(context: Context, place: Place, template: Template): PageSeed {
  const refs = Object.entries(template.params?.contentRefs ?? {});
  const body = refs.map(([name, ref]) => lineFor(context, place, name, ref)).join('\n\n');
  return { title: template.id, body };
}

/** Writes what the template says into the place, in the name of that user. */
export function applyTemplate(context: Context, place: Place, template: Template, user: string | undefined): void {
  writeContent(context, place, { pages: [templatePage(context, place, template)] }, user);
}
