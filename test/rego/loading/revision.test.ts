import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { makeWorkspace } from '../../support/workspace.js'

const FILES = { 'a/x.rego': 'package a\nx := 1\n', 'a/data.json': '{"y": 2}' }

/** Returns the revision of directories in a new place. */
async function revisionOf(...directories: readonly Readonly<Record<string, string>>[]): Promise<string> {
  const workspace = makeWorkspace()
  onTestFinished(() => workspace.remove())
  const roots = directories.map((files, index) => {
    for (const [file, text] of Object.entries(files)) workspace.write({ [`${index}/${file}`]: text })
    return join(workspace.path, `${index}`)
  })
  const options = {
    findOpa: () => findOpa({ env: process.env }),
    builtins: hostBuiltins,
    limits: DEFAULT_LIMITS,
  }
  return (await loadSnapshot({ directories: roots, bundles: [] }, options)).revision
}

test('equal files have the same revision wherever their directories are', async () => {
  const more = { 'b.rego': 'package b\n' }
  expect(await revisionOf(FILES)).toBe(await revisionOf(FILES))
  expect(await revisionOf(FILES, more)).toBe(await revisionOf(FILES, more))
})

test('another name or content of a file is another revision', async () => {
  const { 'a/x.rego': text, ...data } = FILES
  const revisions = await Promise.all(
    [FILES, { 'a/z.rego': text, ...data }, { ...FILES, 'a/data.json': '{"y": 3}' }].map((files) =>
      revisionOf(files),
    ),
  )
  expect(new Set(revisions).size).toBe(3)
})
