import { expect } from 'vitest'

import { objectOf, postJson } from './http-client.js'
import type { TidegateProcess } from './tidegate-process.js'
import { waitUntil } from './wait-until.js'

/** A policy whose `version` shows which version is served. */
export function policyOfVersion(version: number): string {
  return `package app\n\nimport rego.v1\n\nversion := ${version}\n`
}

/** Waits until that version is served; every answer on the way must be one. */
export async function untilServed(tidegate: TidegateProcess, version: number): Promise<void> {
  await waitUntil(
    async () => {
      const answer = await postJson(tidegate.url, '/v1/data/app/version', { input: {} })
      expect(answer.status).toBe(200)
      return objectOf(answer)['result'] === version ? true : undefined
    },
    () => `version ${version} is not served: ${tidegate.logText()}`,
  )
}
