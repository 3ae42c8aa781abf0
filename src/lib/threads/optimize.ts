import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8's optimising compiler work, which `cli.ts` keeps still while code is loaded: it would compile in other threads what is hardly
 * called afterwards, and take a twentieth of the CPU of a start for it. To be called before anything that may run for long.
 */
export function letOptimize(): void {
  setFlagsFromString('--opt')
}

/** How many bytes of V8's bytecode a function runs through before it is looked at: twenty times what is usual. */
const LATE = 20 * 66 * 1024

/** The same for what ends soon: what takes a second in all has hardly run when most of it has been compiled. */
export function letOptimizeLate(): void {
  setFlagsFromString(`--interrupt-budget=${LATE}`)
  letOptimize()
}
