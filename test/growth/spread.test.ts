import { expect, test } from 'vitest';
import { isSyntaxNode, visitSources } from './sources.ts';

const METHODS = ['push', 'unshift', 'splice', 'concat', 'max', 'min', 'fromCharCode', 'fromCodePoint', 'apply'];

test('no list is spread into call arguments, because long ones overflow the call stack', () => {
  const found: string[] = [];
  visitSources((node, place) => {
    const { callee } = node;
    const args = Array.isArray(node.arguments) ? node.arguments : [];
    if (node.type === 'CallExpression' && isSyntaxNode(callee) && callee.type === 'MemberExpression') {
      const name = (callee.property as { readonly name?: string }).name ?? '';
      if (METHODS.includes(name) && args.some((each) => each.type === 'SpreadElement')) {
        found.push(`${place()} ${name}`);
      }
    }
  });
  expect(found).toEqual([]);
});
