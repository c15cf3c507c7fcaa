import { type Document, LineCounter, parseDocument } from 'yaml';
import { isObject } from '../core/json.ts';
import type { SpecError, SpecRecord } from './records.ts';

/** What reading a source would find wrong. Addresses are never fetched: words in them choose the outcome. */
export function errorsOf(source: SpecRecord['source']): SpecError[] {
  if ('text' in source) {
    return errorsOfText(source.text);
  }
  if (source.url.includes('timeout')) {
    return [{ message: `Fetching ${source.url} took too long`, code: 'FETCH_TIMEOUT' }];
  }
  if (source.url.includes('missing')) {
    return [{ message: `Fetching ${source.url} answered 404`, code: 'FETCH_ERROR' }];
  }
  return [];
}

/** An OpenAPI document is a YAML (or JSON) mapping that says which version of OpenAPI or Swagger it is. */
function errorsOfText(text: string): SpecError[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return document.errors.map((error) => ({
      message: `line ${lines.linePos(error.pos[0]).line}: ${error.message}`,
      code: 'PARSE_ERROR' as const,
    }));
  }
  const value = readValue(document);
  if (value === undefined) {
    return [{ message: 'the document repeats itself too often', code: 'PARSE_ERROR' }];
  }
  if (!isObject(value)) {
    return [{ message: 'line 1: the document is not a mapping', code: 'PARSE_ERROR' }];
  }
  if (typeof value.openapi !== 'string' && typeof value.swagger !== 'string') {
    return [{ message: 'line 1: neither "openapi" nor "swagger" says a version', code: 'PARSE_ERROR' }];
  }
  return [];
}

/** Undefined when its aliases would blow it up. */
function readValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch {
    return undefined;
  }
}
