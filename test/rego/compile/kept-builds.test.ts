import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { keepBuilds } from '../../../src/rego/compile/kept-builds.js'
import type { BuildModule } from '../../../src/rego/compile/build-module.js'
import type { RegoModule } from '../../../src/rego/modules/rego-module.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

const OPTIONS = { maxEntrypoints: 200 }
const KEYS = new Map([['', 'document'] as const])
const BUILT = { wasm: Uint8Array.of(0, 97, 115, 109), paths: new Map([['a', 'data.a']]) }

let workspace: Workspace
let folder: string

beforeEach(() => {
  workspace = makeWorkspace({ opa: 'a program' })
  folder = join(workspace.path, 'data', 'compiled')
})
afterEach(() => workspace.remove())

function moduleOf(text: string): RegoModule {
  return { file: 'a.rego', text, version: 1, packagePath: ['a'], rules: [] }
}

function counted(build: () => Promise<typeof BUILT> = () => Promise.resolve(BUILT)): {
  readonly times: () => number
  readonly ask: (text?: string, builtBy?: string, release?: string) => ReturnType<BuildModule>
} {
  const spied = vi.fn<BuildModule>(build)
  return {
    times: () => spied.mock.calls.length,
    ask: (text = 'package a', builtBy = 'today', release = '1.20.2') => {
      const opa = { path: join(workspace.path, 'opa'), source: 'PATH', release } as const
      return keepBuilds(folder, builtBy, spied)(opa, [moduleOf(text)], KEYS, OPTIONS)
    },
  }
}

/** Names of cached builds: their digest and its source. */
function summed(rest: Buffer): Buffer {
  return Buffer.concat([createHash('sha256').update(rest).digest(), rest])
}

test('what was built once is not built again, by the next process either', async () => {
  const { times, ask } = counted()
  await ask()

  expect(await ask()).toEqual(BUILT)
  expect(times()).toBe(1)
})

test('other sources, another build of this program and another opa program are built again', async () => {
  const { times, ask } = counted()
  await ask()
  await ask('package b')
  await ask('package a', 'tomorrow')
  await ask('package a', 'today', '1.21.0')
  expect(times()).toBe(4)

  workspace.write({ opa: 'another program' })
  await ask()
  expect(times()).toBe(5)
})

test.each([
  ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
  ['empty', () => Buffer.alloc(0)],
  [
    'changed in one byte',
    (bytes: Buffer) => bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)),
  ],
  ['whole, and of something else', () => summed(Buffer.alloc(8))],
  ['whole, and says a length beyond its end', () => summed(Buffer.alloc(4, 0xff))],
])('a file that is %s is built anew and replaced', async (_, damage) => {
  const { times, ask } = counted()
  await ask()
  const file = join(folder, readdirSync(folder)[0] ?? '')
  writeFileSync(file, damage(readFileSync(file)))

  expect(await ask()).toEqual(BUILT)
  expect(await ask()).toEqual(BUILT)
  expect(times()).toBe(2)
})

test.skipIf(process.platform === 'win32').each([
  ['a pipe', (file: string) => void execFileSync('mkfifo', [file])],
  ['a device without end', (file: string) => symlinkSync('/dev/zero', file)],
  ['a folder', (file: string) => mkdirSync(join(file, 'with', 'another'), { recursive: true })],
  [
    'larger than any build',
    (file: string) => {
      writeFileSync(file, '')
      truncateSync(file, 2 ** 32)
    },
  ],
])('%s in the place of a build is not read, and gives way to one', async (_, put) => {
  const { times, ask } = counted()
  await ask()
  const file = join(folder, readdirSync(folder)[0] ?? '')
  rmSync(file)
  put(file)

  expect(await ask()).toEqual(BUILT)
  expect(await ask()).toEqual(BUILT)
  expect(times()).toBe(2)
})

test('a build that has come to the name of another is not taken for it', async () => {
  const { times, ask } = counted()
  await ask('package a')
  const [name = ''] = readdirSync(folder)
  rmSync(join(folder, name))
  await ask('package b')
  renameSync(join(folder, readdirSync(folder)[0] ?? ''), join(folder, name))

  await ask('package a')
  expect(times()).toBe(3)
})

test('builds from ahead of the clock do not push out those of now, and files of others are left alone', async () => {
  const { times, ask } = counted()
  for (let number = 0; number < 8; number += 1) await ask(`other ${number}`)
  const aheadS = Date.now() / 1000 + 86_400
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), aheadS, aheadS)
  for (let number = 0; number < 9; number += 1) writeFileSync(join(folder, `notes ${number}`), '')
  await ask('of now')

  await ask('of now')
  expect(times()).toBe(9)
  expect(readdirSync(folder).filter((name) => name.startsWith('notes'))).toHaveLength(9)
  expect(readdirSync(folder)).toHaveLength(8 + 9)
})

test('what does not compile is not kept', async () => {
  const { times, ask } = counted(() => Promise.reject(new AppError('invalid', 'no Rego')))
  await expect(ask()).rejects.toThrow('no Rego')
  await expect(ask()).rejects.toThrow('no Rego')
  expect(times()).toBe(2)
})

test('where nothing can be kept, everything is built', async () => {
  writeFileSync(join(workspace.path, 'data'), 'no folder')
  const { times, ask } = counted()

  expect(await ask()).toEqual(BUILT)
  expect(await ask()).toEqual(BUILT)
  expect(times()).toBe(2)
})

test('the eight that were asked for last are kept, and nobody else may read them', async () => {
  const { times, ask } = counted()
  await ask('first')
  const [first = ''] = readdirSync(folder)
  for (let number = 0; number < 7; number += 1) await ask(`other ${number}`)
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 1, name === first ? 2 : 1)
  await ask('first')
  await ask('one more')
  expect(readdirSync(folder)).toHaveLength(8)
  expect(readdirSync(folder)).toContain(first)
  expect(statSync(join(folder, first)).mode & 0o077).toBe(0)
  expect(statSync(folder).mode & 0o077).toBe(0)
  expect(times()).toBe(9)
})
