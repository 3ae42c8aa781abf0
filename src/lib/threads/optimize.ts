import { keepFlag, usualOf } from './v8-flags.js'

/** How many bytes of V8's bytecode a function runs through before it is looked at. */
const BUDGET = 'interrupt-budget'

/**
 * Lets V8's optimising compiler work, but look at what has run so many times as long as usual: what takes a second in all, or answers few requests, has hardly run when most of it has been compiled. `cli.ts` keeps
 * it still while code is loaded: it would compile in other threads what is hardly called afterwards, and take a twentieth of the CPU of a start for it. To be
 * called before anything that may run for long.
 */
export function letOptimizeLate(times: number): void {
  keepFlag(BUDGET, times * usualOf(BUDGET))
  keepFlag('opt', true)
}

/** The bytes of WebAssembly that a function runs through, roughly. */
const BUDGET_IN_MODULES = 'wasm-tiering-budget'
/** What ends within a second or so has hardly begun to call again what it has called. */
const SOON = 20

/** The same for a command, which ends soon, and for the modules that it runs. Nor is its heap marked while it works, since most end before that pays. */
export function letOptimizeForCommand(): void {
  letOptimizeLate(SOON)
  keepFlag(BUDGET_IN_MODULES, SOON * usualOf(BUDGET_IN_MODULES))
  keepFlag('incremental-marking', false)
}

/** Compiling what they call has cost as much as they have themselves by then, where each asks a hundred packages. */
const MANY_REQUESTS = 500
let requestsLeft = MANY_REQUESTS

/** To be called for each request that was answered: what has answered many is worth optimizing as soon as V8 usually does. */
export function optimizeAfterMany(): void {
  requestsLeft -= 1
  if (requestsLeft === 0) keepFlag(BUDGET, usualOf(BUDGET))
}
