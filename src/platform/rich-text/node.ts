/** Any node of a rich document. Unknown kinds are kept as received. Source: docs/platform-notes.md#rich-documents */
export interface RichNode {
  readonly object: string;
  readonly type?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isVoid?: boolean;
  readonly nodes?: readonly RichNode[];
  readonly leaves?: readonly RichLeaf[];
  readonly [field: string]: unknown;
}

/** Text with the same marks throughout. A newline is a line break. */
export interface RichLeaf {
  readonly object: 'leaf';
  readonly text: string;
  readonly marks: readonly RichMark[];
}

export interface RichMark {
  readonly object: 'mark';
  readonly type: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Rich document, the format of the platform's descriptions and instructions. */
export interface RichDocument {
  readonly object: 'document';
  readonly data: Record<string, unknown>;
  readonly nodes: RichNode[];
}
