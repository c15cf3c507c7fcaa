/** Objects of Kubernetes with parts that depend on values, written as a Helm template or with the defaults. */
import { stringify } from 'yaml';
import type { Json } from '../../src/core/json.ts';
import { defaultOf } from './values.ts';

/** Part of an object: what the template has in its place, and its default. */
export class Expression {
  readonly helm: (indent: number) => string;
  readonly fallback: Json;

  /** `helm` gets the indentation of what it writes; a block begins on a new line. */
  constructor(helm: string | ((indent: number) => string), fallback: Json) {
    this.helm = typeof helm === 'string' ? () => helm : helm;
    this.fallback = fallback;
  }
}

export type Template = Json | Expression | readonly Template[] | { readonly [name: string]: Template };

/** Number or text of a value. */
export function value(path: string): Expression {
  const fallback = defaultOf(path);
  return new Expression(`{{ .Values.${path}${typeof fallback === 'string' ? ' | quote' : ''} }}`, fallback);
}

/** Object or list of a value. */
export function block(path: string): Expression {
  return new Expression((indent) => `{{- toYaml .Values.${path} | nindent ${indent} }}`, defaultOf(path));
}

/** List or object with what a value adds. `more` are lines of the template between both. */
export function extended(fixed: Template, path: string, more: readonly string[] = []): Expression {
  return new Expression((indent) => {
    const spaces = ' '.repeat(indent);
    const lines = helmYaml(fixed).trimEnd().split('\n');
    const added = `{{- with .Values.${path} }}{{- toYaml . | nindent ${indent} }}{{- end }}`;
    return ['', ...[...lines, ...more, added].map((line) => `${spaces}${line}`)].join('\n');
  }, plain(fixed));
}

/** Name of the release with a suffix; the bases have the release `octavo`. */
export function named(suffix = ''): Expression {
  return new Expression(`"{{ .Release.Name }}${suffix}"`, `octavo${suffix}`);
}

/** Returns the YAML of an object in a Helm template. */
export function helmYaml(template: Template): string {
  const expressions: Expression[] = [];
  const tokens = replace(template, (expression) => `@@${expressions.push(expression) - 1}@@`);
  return stringify(tokens, { lineWidth: 0 }).replaceAll(
    /^( *)((?:- )?)(.*)"@@(\d+)@@"$/gm,
    (_, ...groups: string[]) => {
      const [spaces = '', dash = '', before = '', index] = groups;
      const written = expressions[Number(index)]?.helm(spaces.length + dash.length + 2) ?? '';
      return `${spaces}${dash}${before}${written}`;
    },
  );
}

/** Returns the YAML of an object with the defaults. Empty lists and objects are omitted. */
export function plainYaml(template: Template): string {
  return stringify(withoutEmpty(plain(template)), { lineWidth: 0 });
}

/** Returns an object with the defaults. */
export function plain(template: Template): Json {
  return replace(template, ({ fallback }) => fallback);
}

function replace(template: Template, by: (expression: Expression) => Json): Json {
  if (template instanceof Expression) {
    return by(template);
  }
  if (Array.isArray(template)) {
    return template.map((each) => replace(each, by));
  }
  if (typeof template === 'object' && template !== null) {
    return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, replace(each ?? null, by)]));
  }
  return template as Json;
}

function withoutEmpty(json: Json): Json {
  if (Array.isArray(json)) {
    return json.map(withoutEmpty);
  }
  if (typeof json !== 'object' || json === null) {
    return json;
  }
  return Object.fromEntries(
    Object.entries(json)
      .map(([name, each]) => [name, withoutEmpty(each ?? null)] as const)
      .filter(([, each]) => typeof each !== 'object' || (each !== null && Object.keys(each).length > 0)),
  );
}
