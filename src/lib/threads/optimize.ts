import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8's optimising compiler work, which `cli.ts` keeps still while code is loaded: it would compile in other threads what is hardly
 * called afterwards, and take a twentieth of the CPU of a start for it. To be called before anything that may run for long.
 */
export function letOptimize(): void {
  setFlagsFromString('--opt')
}
