import {
  type Document,
  isScalar,
  type ParsedNode,
  parseAllDocuments,
  type ScalarTag,
  Schema,
  type YAMLError,
} from 'yaml';
import { messageOf } from '../../core/errors.ts';
import { nodeOf, type YamlNode } from './nodes.ts';
import { parsePlainYaml } from './plain-yaml.ts';
import { yamlProblem } from './yaml-problems.ts';

/** One document of a YAML file. */
export interface YamlDocument {
  readonly contents: YamlNode | null;
  /** True if the document could be parsed only in part. */
  readonly broken: boolean;
}

export interface YamlFile {
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly { readonly offset: number; readonly message: string }[];
}

/** Creates a YAML 1.2 parser. It reuses one schema, because yaml would otherwise create one for every document. */
export function createYamlReader(): (text: string) => YamlFile {
  // Known tags of YAML 1.1 (`!!binary`, `!!timestamp`, …) and merge keys have no meaning in a manifest.
  const schema = new Schema({ schema: 'core', resolveKnownTags: false, merge: false });
  const resolve = resolverOf(schema);
  return (text) => {
    const contents = parsePlainYaml(text, resolve);
    return contents === null ? readYaml(text, schema) : { documents: [{ contents, broken: false }], problems: [] };
  };
}

/** Returns a function that resolves unquoted text as the YAML library does with this schema. */
function resolverOf(schema: Schema): (source: string) => unknown {
  const isTyped = (tag: Schema['tags'][number]): tag is ScalarTag => tag.default === true && 'test' in tag;
  const tags = schema.tags.filter(isTyped);
  return (source) => {
    const tag = tags.find(({ test }) => test?.test(source) === true);
    const value = tag === undefined ? source : tag.resolve(source, () => undefined, {});
    return isScalar(value) ? value.value : value;
  };
}

function readYaml(text: string, schema: Schema): YamlFile {
  try {
    // Duplicate keys are found during conversion, because yaml compares every pair of keys.
    const documents = parseAllDocuments(text, {
      schema,
      stringKeys: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
    return 'empty' in documents ? { documents: [], problems: firstOf(documents.errors) } : fileOf(documents);
  } catch (error) {
    const message = error instanceof RangeError ? 'is nested too deeply' : messageOf(error);
    return { documents: [{ contents: null, broken: true }], problems: [{ offset: 0, message }] };
  }
}

function fileOf(documents: readonly Document[]): YamlFile {
  const problems = documents.flatMap((document) => [
    ...firstOf(document.errors),
    ...document.warnings.map(toProblem),
    ...directiveProblems(document),
  ]);
  return {
    documents: documents.map((document) => ({
      contents: document.contents === null ? null : nodeOf(document.contents as ParsedNode),
      broken: document.errors.length > 0,
    })),
    problems,
  };
}

/** Returns only the first error of a document, because later errors are usually caused by it. */
function firstOf(errors: readonly YAMLError[]) {
  const first = errors.toSorted((a, b) => a.pos[0] - b.pos[0])[0];
  return first === undefined ? [] : [toProblem(first)];
}

function toProblem(error: YAMLError) {
  return { offset: Math.max(0, error.pos[0]), message: yamlProblem(error) };
}

function directiveProblems(document: Document) {
  return document.directives?.yaml.version === '1.1'
    ? [{ offset: 0, message: 'manifests are YAML 1.2; remove the %YAML directive' }]
    : [];
}
