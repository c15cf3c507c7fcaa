import { type Document, type ParsedNode, parseAllDocuments, Schema, type YAMLError } from 'yaml';
import { messageOf } from '../../core/errors.ts';
import { yamlProblem } from './yaml-problems.ts';

/** One document of a YAML file. */
export interface YamlDocument {
  readonly contents: ParsedNode | null;
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
  return (text) => readYaml(text, schema);
}

function readYaml(text: string, schema: Schema): YamlFile {
  let documents: ReturnType<typeof parseAllDocuments>;
  try {
    // Duplicate keys are found during conversion, because yaml compares every pair of keys.
    documents = parseAllDocuments(text, {
      schema,
      stringKeys: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
  } catch (error) {
    const message = error instanceof RangeError ? 'is nested too deeply' : messageOf(error);
    return { documents: [{ contents: null, broken: true }], problems: [{ offset: 0, message }] };
  }
  if ('empty' in documents) {
    return { documents: [], problems: firstOf(documents.errors) };
  }
  const problems = documents.flatMap((document) => [
    ...firstOf(document.errors),
    ...document.warnings.map(toProblem),
    ...directiveProblems(document),
  ]);
  return {
    documents: documents.map((document) => ({
      contents: document.contents as ParsedNode | null,
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
