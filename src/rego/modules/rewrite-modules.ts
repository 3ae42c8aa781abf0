import { ShortTurns } from '../../lib/turns/short-turns.js'
import type { RegoModule } from './rego-module.js'

/** A replacement of `length` characters of a text, from `at` on. */
export interface Edit {
  readonly at: number
  readonly length: number
  readonly text: string
}

/**
 * Returns the text with non-overlapping edits applied; edits at the same offset keep their order.
 */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  let out = ''
  let copied = 0
  for (const { at, length, text } of edits.toSorted((one, other) => one.at - other.at)) {
    out += source.slice(copied, at) + text
    copied = at + length
  }
  return out + source.slice(copied)
}

/** Returns modules with rewritten texts, or the given array if no text changes. */
export async function rewriteModules(
  modules: readonly RegoModule[],
  rewrite: (module: RegoModule) => string,
): Promise<readonly RegoModule[]> {
  const turns = new ShortTurns()
  const rewritten: RegoModule[] = []
  for (const module of modules) {
    const text = rewrite(module)
    rewritten.push(text === module.text ? module : { ...module, text })
    await turns.pause()
  }
  return rewritten.every((module, index) => module === modules[index]) ? modules : rewritten
}
