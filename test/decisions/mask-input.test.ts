import { describe, expect, it } from 'vitest'
import { makeInputKeeper, parseMaskPointer } from '../../src/decisions/mask-input.js'

const keep = (masks: string[], maxBytes: number, input: string, fullLength = input.length) => {
  const kept = makeInputKeeper(masks, maxBytes)(Buffer.from(input), fullLength)
  const { bytes, truncated, maskFailed } = kept
  return { bytes: bytes === null ? null : Buffer.from(bytes).toString(), truncated, maskFailed }
}

describe('keeping an input', () => {
  it.each([
    { name: 'keeps a small one whole', masks: [], input: '{"a":1}', bytes: '{"a":1}', truncated: false },
    {
      name: 'cuts a large one',
      masks: [],
      input: '{"a":"0123456789012345"}',
      bytes: '{"a":"01234567890123',
      truncated: true,
    },
    {
      name: 'masks a member',
      masks: ['/p'],
      input: '{"p":"x"}',
      bytes: '{"p":"[masked]"}',
      truncated: false,
    },
    {
      name: 'masks every element',
      masks: ['/*/p'],
      input: '[{"p":{"q":1}}]',
      bytes: '[{"p":"[masked]"}]',
      truncated: false,
    },
    {
      name: 'masks before it cuts',
      masks: ['/p'],
      input: '{"p":"0123456789012345"}',
      bytes: '{"p":"[masked]"}',
      truncated: false,
    },
  ])('$name', ({ masks, input, bytes, truncated }) => {
    expect(keep(masks, 20, input)).toEqual({ bytes, truncated, maskFailed: false })
  })

  it.each([
    { name: 'is no JSON', input: '{"p":' },
    { name: 'has text behind its JSON value', input: '{"q":1} {"p":"secret"}' },
    { name: 'arrived cut', input: '{"p":"secret"}', fullLength: 1000 },
  ])('keeps nothing of an input to be masked that $name', ({ input, fullLength }) => {
    expect(keep(['/p'], 100, input, fullLength)).toEqual({ bytes: null, truncated: true, maskFailed: true })
  })

  it('does not count one that gave way as one that could not be masked', () => {
    expect(keep(['/p'], 100, '', 1000)).toEqual({ bytes: null, truncated: true, maskFailed: false })
  })
})

describe('parsing a mask', () => {
  it.each([
    { pointer: '/a/*/b', tokens: ['a', '*', 'b'] },
    { pointer: '/a~1b/c~0d/~01', tokens: ['a/b', 'c~d', '~1'] },
    { pointer: '/', tokens: [''] },
  ])('reads $pointer', ({ pointer, tokens }) => {
    expect(parseMaskPointer(pointer)).toEqual(tokens)
  })

  it.each(['a', '', '/a~b', '/a~'])('refuses "%s"', (pointer) => {
    expect(() => parseMaskPointer(pointer)).toThrow(`mask "${pointer}"`)
  })
})
