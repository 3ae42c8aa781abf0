/** Steps of one instruction or character of a pattern, and of a class of Unicode in one, with and without case folding. */
const PART_STEPS = 300
const UNICODE_STEPS = 3_000
const FOLDED_UNICODE_STEPS = 40_000
const BYTES_PER_INSTRUCTION = 200
/** More copies of one thing, nested repetitions together, are a mistake in the pattern. */
const MAX_COPIES = 1_000

const REPEAT = /\{(\d+)(?:,(\d*))?\}/y

/** What compiling a pattern takes at most: the copies that its repetitions ask for count. */
export function compileCost(pattern: string): { steps: number; bytes: number } {
  const { instructions, unicodeClasses } = measurePattern(pattern)
  const isFolded = /\(\?[a-zA-Z]*i/.test(pattern)
  const parts = instructions + pattern.length
  return {
    steps: parts * PART_STEPS + unicodeClasses * (isFolded ? FOLDED_UNICODE_STEPS : UNICODE_STEPS),
    bytes: parts * BYTES_PER_INSTRUCTION,
  }
}

/** How many instructions a pattern comes to, about, without parsing it: groups and repetitions are followed, no more. */
function measurePattern(pattern: string): { instructions: number; unicodeClasses: number } {
  const surrounding: number[] = []
  let unicodeClasses = 0
  let size = 0
  let last = 0
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case '\\':
        at++
        if (pattern[at] === 'p' || pattern[at] === 'P') unicodeClasses++
        last = 1
        break
      case '(':
        surrounding.push(size)
        size = 0
        last = 0
        break
      case ')':
        last = size + 2
        size = surrounding.pop() ?? 0
        break
      case '{': {
        REPEAT.lastIndex = at
        const [text, least = '0', most] = REPEAT.exec(pattern) ?? []
        const times = Math.max(Number(least), Number(most ?? 0))
        // The first copy is counted; one instruction more each for those that may be left out.
        const copies = text === undefined ? 1 : Math.max(0, times - 1) * (last + 1)
        size += copies
        last += copies
        at += text === undefined ? 0 : text.length - 1
        continue
      }
      default:
        last = 1
    }
    size += last
  }
  const instructions = surrounding.reduce((sum, one) => sum + one, size)
  return { instructions: Math.min(instructions, pattern.length * MAX_COPIES), unicodeClasses }
}
