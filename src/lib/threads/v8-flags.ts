import { setFlagsFromString } from 'node:v8'

/** What V8 takes for the flags that are changed here for longer than a call (src/flags/flag-definitions.h of Node.js 20). */
const USUAL = {
  'heap-growing-percent': 0,
  'incremental-marking': true,
  'interrupt-budget': 66 * 1024,
  opt: true,
  'semi-space-growth-factor': 2,
  'wasm-tiering-budget': 1_800_000,
} as const

export type V8Flag = keyof typeof USUAL
type Value = number | boolean

const kept = new Map<V8Flag, Value>()
/** How many want them to be as usual just now. */
let borrowers = 0

/**
 * Sets a flag of V8 until it is set again, for all threads of the process. Node.js has compiled code of its own modules ready, which V8 takes only where all flags
 * have the values that it was made with (`FlagList::Hash`): what is loaded afterwards is compiled from its source, unless `useUsualFlags` has
 * been called.
 */
export function keepFlag(flag: V8Flag, value: Value): void {
  kept.set(flag, value)
  if (borrowers === 0) setFlag(flag, value)
}

/** What V8 takes for a flag by itself. */
export function usualOf<Flag extends V8Flag>(flag: Flag): (typeof USUAL)[Flag] {
  return USUAL[flag]
}

/** Has all kept flags as V8 has them by itself, until what it gives has been called as often as this was. */
export function useUsualFlags(): () => void {
  borrowers += 1
  if (borrowers === 1) for (const flag of kept.keys()) setFlag(flag, USUAL[flag])
  let isBorrowed = true
  return () => {
    if (!isBorrowed) return
    isBorrowed = false
    borrowers -= 1
    if (borrowers === 0) for (const [flag, value] of kept) setFlag(flag, value)
  }
}

function setFlag(flag: V8Flag, value: Value): void {
  if (typeof value === 'boolean') setFlagsFromString(value ? `--${flag}` : `--no-${flag}`)
  else setFlagsFromString(`--${flag}=${value}`)
}
