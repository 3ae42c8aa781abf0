import { setTimeout } from 'node:timers/promises'

const STEP_MS = 20
const QUIET_STEPS = 15

/** Polls until a value has stayed the same for a while, and returns it. */
export async function untilQuiet(look: () => number): Promise<number> {
  let last = look()
  for (let same = 0; same < QUIET_STEPS; same++) {
    await setTimeout(STEP_MS)
    if (look() !== last) same = 0
    last = look()
  }
  return last
}
