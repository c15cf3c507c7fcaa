/** Git LFS pointers: what a checkout without the LFS extension has in place of the content of a file. */

/** End of a message about such a file, after its name. */
export const LFS_POINTER = 'is a Git LFS pointer and not the content of the file';

/** Returns true for a pointer. `text`: at least the first 64 characters of the file. */
export function isLfsPointer(text: string): boolean {
  return text.startsWith('version https://git-lfs.github.com/spec/');
}
