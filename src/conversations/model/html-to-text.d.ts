// Types of the members that are used; the library has none.
declare module 'html-to-text' {
  export interface HtmlElement {
    readonly attribs?: Readonly<Record<string, string>>;
    readonly children: readonly unknown[];
  }
  export interface TextBuilder {
    pushWordTransform(transform: (text: string) => string): void;
    popWordTransform(): void;
    addInline(text: string, options?: { noWordTransform?: boolean }): void;
  }
  export type Formatter = (
    element: HtmlElement,
    walk: (children: readonly unknown[], builder: TextBuilder) => void,
    builder: TextBuilder,
    options: Readonly<Record<string, unknown>>,
  ) => void;
  export interface Options {
    wordwrap?: number | false;
    whitespaceCharacters?: string;
    limits?: { ellipsis?: string; maxChildNodes?: number; maxDepth?: number; maxInputLength?: number };
    formatters?: Readonly<Record<string, Formatter>>;
    selectors?: readonly { selector: string; format?: string; options?: Readonly<Record<string, unknown>> }[];
  }
  export function compile(options?: Options): (html: string) => string;
}
