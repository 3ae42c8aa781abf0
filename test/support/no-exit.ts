import { afterAll, afterEach } from 'vitest'

/**
 * The process of a test serves other tests, too. A call of `process.exit` throws, and fails the
 * test that made it even if the tested code catches the error.
 */
const calls: Error[] = []
process.exit = (code) => {
  const call = new Error(`the test called process.exit(${code ?? ''}): return the exit code instead`)
  calls.push(call)
  throw call
}

function failAfterExit(): void {
  const [call] = calls.splice(0)
  if (call !== undefined) throw call
}
afterEach(failAfterExit)
afterAll(failAfterExit)
