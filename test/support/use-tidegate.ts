import { afterAll, beforeAll } from 'vitest'

import { startTidegate } from './tidegate-process.js'
import type { TidegateProcess } from './tidegate-process.js'
import { makeWorkspace } from './workspace.js'

/**
 * One service for all tests of a file, with a policy `app` that allows. Returns it once they run.
 */
export function useTidegate(): () => TidegateProcess {
  const workspace = makeWorkspace({
    'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n',
  })
  let tidegate: TidegateProcess | undefined
  beforeAll(async () => {
    tidegate = await startTidegate({ workspace })
  })
  afterAll(async () => {
    await tidegate?.end('SIGTERM')
    workspace.remove()
  })
  return () => {
    if (tidegate === undefined) throw new Error('the service is started before the first test')
    return tidegate
  }
}
