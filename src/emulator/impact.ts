import type { Impact } from './conversation-records.ts';

/*
 * Impact of issues and clusters. A decision of this emulator, since the platform does not document how it is
 * determined: words decide it for an issue, shares and counts for a cluster.
 * Source: docs/platform-notes.md#issue-clusters
 */

/** Fully or near-fully blocking, severe regression, data-loss risk. */
const HIGH = anyOf(
  /data[\s-]loss/,
  /(?:lost|losing|wiped|corrupt\w*|overw\w+|deleted (?:all|our|my)) (?:\w+ ){0,2}(?:data|work|content|changes|pages|files|everything)/,
  /(?:data|work|content|changes|pages|files|everything) (?:\w+ ){0,3}(?:lost|gone|disappeared|wiped|corrupted|overwritten)/,
  /(?:completely|entirely|totally) (?:down|broken|unusable)|unusable/,
  /(?:production|site|everything|service) (?:is )?down|outage|crash(?:ed|es|ing)?/,
  /no ?(?:body|one) can|locked out|block(?:ed|er|ing)/,
  /security (?:breach|hole)|urgent\w*|asap/,
);

/** Partial blocking, workarounds exist. */
const MEDIUM = anyOf(
  /can(?:no|['’]|)t|can not|could(?: not|n['’]t)|unable/,
  /(?:does|do|did|is|are|was|were|wo|has)n['’]t|(?:does|do|did) not|not? (?:longer )?work\w*/,
  /never (?:arriv|work|load|finish|complet|updat)\w*|time[sd]?[\s-]?out|stuck/,
  /fail\w*|broken|breaks?|errors?|wrong|missing|rejected|refused|denied|workaround/,
);

/** Any of these, as whole words in any case. */
function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(`\\b(?:${patterns.map((pattern) => pattern.source).join('|')})\\b`, 'i');
}

/** What one conversation's words say. */
export function impactOfText(text: string): Impact {
  if (HIGH.test(text)) {
    return 'high';
  }
  return MEDIUM.test(text) ? 'medium' : 'low';
}

/**
 * What its issues make of a cluster. High: a third of them are, and at least two; or twenty are medium or worse. Medium:
 * a third of them are medium or worse, or there are ten of any kind. Else low.
 */
export function impactOfCluster(impacts: readonly Impact[]): Impact {
  const high = impacts.filter((impact) => impact === 'high').length;
  const notLow = impacts.filter((impact) => impact !== 'low').length;
  const third = impacts.length / 3;
  if ((high >= 2 && high >= third) || notLow >= 20) {
    return 'high';
  }
  return notLow >= third || impacts.length >= 10 ? 'medium' : 'low';
}
