/** A whole number from 0 to below the limit. */
export type Random = (below: number) => number

/**
 * A small generator with a fixed seed (the minimal standard of Park and Miller), so that failures
 * are reproducible.
 */
export function makeRandom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

const KEYS = ['a', 'b', 'B', 'aa', '', 'k<', 'stages', 'x y', 'z"', '\\', '0', '10', '9']
const TEXTS = ['', 'deploy', 'a < b & c', 'line\nbreak\ttab', '\u0001', '"quoted"', 'c:\\dir', 'x'.repeat(40)]
const NUMBERS = [0, -1, 7, 1.5, 1e21, -2.5e-7, 123456789]

/** An ASCII value of at most `depth` levels. */
export function randomJson(random: Random, depth: number): unknown {
  switch (random(depth > 0 ? 8 : 5)) {
    case 0:
      return [true, false, null][random(3)]
    case 1:
    case 2:
      return NUMBERS[random(NUMBERS.length)]
    case 3:
    case 4:
      return TEXTS[random(TEXTS.length)]
    case 5:
      return Array.from({ length: random(5) }, () => randomJson(random, depth - 1))
    default:
      return randomObject(random, depth)
  }
}

function randomObject(random: Random, depth: number): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (let i = random(6); i > 0; i--) members[KEYS[random(KEYS.length)] ?? ''] = randomJson(random, depth - 1)
  return members
}

/** The value as JSON text in one of several layouts. */
export function randomSpacing(random: Random, value: unknown): string {
  const indent = [undefined, 1, '\t', '\r\n '][random(4)]
  return `${' '.repeat(random(3))}${JSON.stringify(value, undefined, indent)}${'\n'.repeat(random(2))}`
}
