import type { Reporter } from 'vitest/node'

/** Names each test that held only when it was tried again, with what had failed: it is to be mended as one that fails. */
export const nameRetried: Reporter = {
  onTestCaseResult: (test) => {
    if (test.diagnostic()?.flaky !== true) return
    const failures = (test.result().errors ?? []).map(({ message }) => message)
    const what = [test.module.relativeModuleId, test.fullName, ...failures].join(': ')
    process.stderr.write(`held only when tried again: ${what}\n`)
  },
}
