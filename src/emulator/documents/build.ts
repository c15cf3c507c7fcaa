/** Rich documents that the emulator itself writes. Source: docs/platform-notes.md#rich-documents */
function text(words: string): unknown {
  return { object: 'text', leaves: [{ object: 'leaf', text: words, marks: [] }] };
}

export function paragraph(words: string): unknown {
  return { object: 'block', type: 'paragraph', nodes: [text(words)] };
}

export function linkParagraph(words: string, url: string): unknown {
  const link = { object: 'inline', type: 'link', data: { ref: { kind: 'url', url } }, nodes: [text(words)] };
  return { object: 'block', type: 'paragraph', nodes: [link] };
}

export function bullets(items: readonly string[]): unknown {
  const nodes = items.map((item) => ({ object: 'block', type: 'list-item', nodes: [paragraph(item)] }));
  return { object: 'block', type: 'list-unordered', nodes };
}

export function richDocument(nodes: readonly unknown[]): unknown {
  return { object: 'document', data: {}, nodes };
}
