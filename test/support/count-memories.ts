import { onTestFinished } from 'vitest'

/**
 * Counts the memories that are made from now on until the test ends: one for each instance of a
 * module.
 */
export function countMemories(): () => number {
  const { Memory } = WebAssembly
  let count = 0
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: ConstructorParameters<typeof Memory>[0]) {
      super(descriptor)
      count += 1
    }
  }
  onTestFinished(() => {
    WebAssembly.Memory = Memory
  })
  return () => count
}
