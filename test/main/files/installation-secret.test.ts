import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { installationSecret } from '../../../src/main/files/installation-secret.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

let workspace: Workspace
beforeEach(() => (workspace = makeWorkspace()))
afterEach(() => workspace.remove())

describe('the secret of an installation', () => {
  test('is made once, whole, for its owner alone', () => {
    const created: string[] = []
    const secret = installationSecret(workspace.path, 'key', (path) => created.push(path))
    expect(Buffer.from(secret, 'base64')).toHaveLength(32)
    expect(installationSecret(workspace.path, 'key', (path) => created.push(path))).toBe(secret)
    const path = join(workspace.path, 'key')
    expect(created).toEqual([path])
    expect(readFileSync(path, 'utf8')).toBe(`${secret}\n`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(workspace.path)).toEqual(['key'])
  })

  test.each(['', '\n', 'short', 'fifteen letters'])('is never %j, which anybody could sign with', (text) => {
    writeFileSync(join(workspace.path, 'key'), text)
    expect(() => installationSecret(workspace.path, 'key')).toThrow(
      /contains \d+ characters instead of a secret: restore it/,
    )
    expect(readFileSync(join(workspace.path, 'key'), 'utf8')).toBe(text)
  })
})
