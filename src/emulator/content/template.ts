/*
 * Templates. Neither document defines any. Decisions of this emulator: every id is a template, which writes one page
 * with the id as title and one line per content reference, with its name and a link. A target must exist (400), also in
 * the content that receives the page.
 */

import type { ContentRef, TemplateParams } from '../documents/content-reference.ts';
import { referenced } from '../model/answers.ts';
import type { Context } from '../model/operation.ts';
import type { SpaceRecord } from '../spaces/records.ts';
import type { ContentOwner } from './content.ts';
import { writeContent } from './edit.ts';
import { resolveReference, toReference } from './links.ts';
import { createTextContext } from './pages.ts';
import type { PageSeed } from './seed.ts';

interface Template {
  readonly id: string;
  readonly params?: TemplateParams | undefined;
}

/** Returns the app's address of a target outside the space. */
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

/** Returns a line of Markdown that links the target. */
function lineFor(context: Context, place: ContentOwner, name: string, ref: ContentRef): string {
  const scope = createTextContext(context, place);
  const field = `body.params.contentRefs.${name}`;
  const target = referenced(resolveReference(context, scope, ref), field, ref.kind, JSON.stringify(ref));
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
  return `[${name}](<${appAddress(context, place.space, toReference(target))}>)`;
}

/** Returns the page of a template without writing it. Throws a 400 if a target does not exist. */
export function templatePage(context: Context, place: ContentOwner, template: Template): PageSeed {
  const refs = Object.entries(template.params?.contentRefs ?? {});
  const body = refs.map(([name, ref]) => lineFor(context, place, name, ref)).join('\n\n');
  return { title: template.id, body };
}

/** Writes the page of a template in the name of a user. */
export function applyTemplate(
  context: Context,
  place: ContentOwner,
  template: Template,
  user: string | undefined,
): void {
  writeContent(context, place, { pages: [templatePage(context, place, template)] }, user);
}
