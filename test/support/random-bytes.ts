export { seededRandom } from '../../src/canary/judge/series/seeded-random.js'

/**
 * A copy with one to four small damages: bytes changed, left out, doubled, put in, or the rest cut
 * off.
 */
export function mutate(bytes: Uint8Array, random: () => number): Buffer {
  const below = (limit: number): number => Math.floor(random() * limit)
  const tokens = [
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    '\\',
    '\\ud800',
    'null',
    '1e999',
    '\u0000',
    '-',
    '\u00ff',
  ]
  let mutated = Buffer.from(bytes)
  for (let damages = 1 + below(4); damages > 0; damages--) {
    const at = below(mutated.length + 1)
    const before = mutated.subarray(0, at)
    const after = mutated.subarray(at)
    const part = mutated.subarray(at, at + below(20))
    const forms: readonly (() => Buffer[])[] = [
      () => [before, Buffer.from([below(256)]), after.subarray(1)],
      () => [before, after.subarray(1 + below(8))],
      () => [before, part, part, after],
      () => [before, Buffer.from(tokens[below(tokens.length)] ?? '', 'latin1'), after],
      () => (random() < 0.3 ? [before] : [before, after]),
    ]
    mutated = Buffer.concat(forms[below(forms.length)]?.() ?? [])
  }
  return mutated
}
