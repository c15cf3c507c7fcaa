import { describe, expect, it } from 'vitest';
import { textOfHtml } from '../../src/conversations/model/html.ts';

describe('text from HTML', () => {
  it.each([
    ['<p>One</p><p>Two<br>Three</p>', 'One\n\nTwo\nThree'],
    ['<a href="https://x.example/a">the docs</a>', 'the docs (https://x.example/a)'],
    ['<a href="https://x.example/a">https://x.example/a</a>', 'https://x.example/a'],
    ['<a href="mailto:ana@x.example?subject=hi">write</a>', 'write (ana@x.example)'],
    ['<a href="javascript:alert(1)">press</a> <a href="#top">up</a>', 'press up'],
    [`<a href="https://t.example/${'x'.repeat(2000)}">view</a>`, 'view'],
    ['Hi<a href="https://t.example/open"><img src="https://t.example/p.gif" width="1"></a>', 'Hi'],
    ['<img src="https://t.example/p.gif" alt="pixel">text', 'text'],
    ['<head><title>T</title><style>a{}</style></head><body>b<script>evil()</script></body>', 'b'],
    ['<div style="display:none">preview</div>shown', 'shown'],
    ['<ul><li>one<li>two</ul>', '- one\n- two'],
    ['<table><tr><td>a</td><td>b</td></tr></table>', 'a\nb'],
    ['<h1>Not shouted</h1>', 'Not shouted'],
    ['<pre>a  b\n c</pre>', 'a  b\n c'],
    ['reply<blockquote>asked</blockquote>', 'reply\n\n> asked'],
    ['a&nbsp;&amp;&nbsp;&lt;b&gt; an\u200Ba@x.example', 'a & <b> ana@x.example'],
    ['a < b, and no HTML', 'a < b, and no HTML'],
    ['', ''],
  ])('is converted as expected (case %#)', (html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  it.each([
    ['elements left open', '<b>'.repeat(87_000)],
    ['elements left open, within the limit', '<b>'.repeat(9900)],
    ['closed ones that were never opened', '<b>'.repeat(9900) + '</i>'.repeat(100_000)],
    ['quotes inside quotes', '<blockquote>'.repeat(9900)],
    ['spaces', `<pre>${' '.repeat(400_000)}x</pre>`],
    ['less-than signs', '<'.repeat(400_000)],
    ['attributes without end', `<a ${'a="b" '.repeat(50_000)}`],
    ['scripts without end', '<script>x'.repeat(20_000)],
  ])('is converted quickly from %s', (_, html) => {
    expect(textOfHtml(`seen<br>${html}`).startsWith('seen')).toBe(true);
  });

  it('keeps the words beyond the element limit', () => {
    const text = textOfHtml(`<style>a{}</style><p>first</p>${'<i>w</i>'.repeat(20_000)}<p>a &amp; b</p>`);
    expect(text.startsWith('first\nww')).toBe(true);
    expect(text.endsWith('a & b')).toBe(true);
    expect(text).not.toContain('a{}');
  });

  it('is limited in length, and inline images do not count', () => {
    expect(textOfHtml('x'.repeat(5_000_000)).length).toBe(524_288);
    expect(textOfHtml(`<img src="data:image/png;base64,${'A'.repeat(1_000_000)}"><p>words</p>`)).toBe('words');
  });
});
