import { shownJson } from '../../core/json.ts';
import { type Actual, isIdRef } from '../../core/resource.ts';
import type { DescribeContext, Described } from '../model/manifest.ts';

/** A site with all its parts: the inverse of `declareSite`. */
export function describeSite(actual: Actual, context: DescribeContext): Described {
  const { title, visibility, published, basename, proxy, agentsContext, adaptiveContent, adaptiveSchema } =
    actual.fields;
  const parts = new PartsDescriber(context);
  const structure = parts.structure(actual);
  return context.resource(actual, {
    title,
    visibility: visibility ?? undefined,
    // A site that holds nothing yet cannot be published, and need not say that it is not.
    published: published === true || structure.length > 0 ? published : undefined,
    basename: basename ?? undefined,
    proxy: proxy ?? undefined,
    agentsContext: agentsContext === 'included' ? undefined : (agentsContext ?? undefined),
    adaptiveContent: adaptiveContent === true || context.whole ? { enabled: adaptiveContent === true } : undefined,
    adaptiveSchema: adaptiveSchema ? context.file('schemas', 'json', `${shownJson(adaptiveSchema)}\n`) : undefined,
    default: parts.first(actual),
    structure: structure.length > 0 ? structure : undefined,
  });
}

/** Describes what lies inside a site. What cannot be declared is left out, with a note on what it lies in. */
class PartsDescriber {
  readonly #context: DescribeContext;
  /** The ids of the parts that were described, with their keys. */
  readonly #described = new Map<string, string>();

  constructor(context: DescribeContext) {
    this.#context = context;
  }

  structure(site: Actual): readonly Described[] {
    const parts = this.#context.partsOf(site);
    const plain = parts.filter(({ kind }) => kind === 'site-space');
    if (plain.length === 0) {
      return this.#items(parts);
    }
    if (plain.length < parts.length) {
      this.#context.note(site, 'its section groups are left out: they show nothing as long as it has no section');
    }
    return this.#spaces(site, plain);
  }

  /** The key of what is shown first, where that is described. */
  first({ fields }: Actual): string | undefined {
    const { default: shown } = fields;
    return isIdRef(shown) ? this.#described.get(shown.$id) : undefined;
  }

  #items(parts: readonly Actual[]): readonly Described[] {
    return parts.flatMap((part): readonly Described[] => {
      const item = part.kind === 'section-group' ? this.#group(part) : this.#section(part);
      return item === null ? [] : [item];
    });
  }

  #group(group: Actual): Described {
    const { title, icon } = group.fields;
    const items = this.#items(this.#context.partsOf(group));
    return this.#resource(group, { group: this.#context.keyOf(group), title, icon: icon ?? undefined, items });
  }

  #section(section: Actual): Described | null {
    const { title, icon, path, description, condition } = section.fields;
    const spaces = this.#spaces(section, this.#context.partsOf(section));
    if (spaces.length === 0) {
      return null;
    }
    return this.#resource(section, {
      section: this.#context.keyOf(section),
      title,
      icon: icon ?? undefined,
      path: path ?? undefined,
      description: description ?? undefined,
      condition: condition ?? undefined,
      default: this.first(section),
      spaces,
    });
  }

  #spaces(holder: Actual, parts: readonly Actual[]): readonly Described[] {
    return parts.flatMap((part): readonly Described[] => {
      const { space, path, condition, hidden } = part.fields;
      const shown = this.#context.keyOfRef(space);
      if (shown === null) {
        this.#context.note(holder, `left out: ${String(path ?? part.title)}, which shows a space that is not there`);
        return [];
      }
      return [
        this.#resource(part, {
          key: this.#context.keyOf(part),
          space: shown,
          path: path ?? undefined,
          condition: condition ?? undefined,
          hidden: hidden === true ? true : undefined,
        }),
      ];
    });
  }

  #resource(actual: Actual, members: Described): Described {
    this.#described.set(actual.id, this.#context.keyOf(actual));
    return this.#context.resource(actual, members);
  }
}
