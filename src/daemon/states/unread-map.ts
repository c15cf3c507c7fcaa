/** Map whose entries were not read: only their number is known. Reading an entry is an error of the program. */
export class UnreadMap<V> extends Map<string, V> {
  readonly #size: number;

  constructor(size: number) {
    super();
    this.#size = size;
  }

  override get size(): number {
    return this.#size;
  }

  override get(): never {
    throw notRead();
  }

  override has(): never {
    throw notRead();
  }

  override forEach(): never {
    throw notRead();
  }

  override entries(): never {
    throw notRead();
  }

  override keys(): never {
    throw notRead();
  }

  override values(): never {
    throw notRead();
  }

  override [Symbol.iterator](): never {
    throw notRead();
  }
}

function notRead(): Error {
  return new Error('the state of the organization was not read completely; refresh it first');
}
