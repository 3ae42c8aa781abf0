import { gzipSync } from 'node:zlib'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { dataFilesOf, describeBundle } from '../../../src/rego/bundle/describe-bundle.js'
import { readData } from '../../../src/rego/data/base-document.js'
import { readBundle } from '../../../src/rego/archive/read-bundle.js'
import { unpackBundle } from '../../../src/rego/archive/unpack-bundle.js'
import { packFiles, packMembers } from '../../support/make-bundle.js'
import type { Member } from '../../support/make-bundle.js'

const unpack = async (...members: readonly Member[]) => await unpackBundle('b', await packMembers(members))

describe('unpacking a bundle', () => {
  test('names files by their path, however it is spelt', async () => {
    const files = await unpack(
      { name: './', type: 'directory' },
      { name: '/data.json', content: '1' },
      { name: './a//b/./p.rego', content: '2' },
    )
    expect([...files].map(([name, content]) => [name, content.toString()])).toEqual([
      ['data.json', '1'],
      ['a/b/p.rego', '2'],
    ])
  })

  const refused: readonly (readonly [string, readonly Member[]])[] = [
    ['read bundle b: the path ../data.json leads out of the bundle', [{ name: '../data.json' }]],
    ['read bundle b: the path a/../../x leads out of the bundle', [{ name: 'a/../../x' }]],
    ['read bundle b: the path a/../x/ leads out of the bundle', [{ name: 'a/../x/', type: 'directory' }]],
    ['read bundle b: data.json occurs twice', [{ name: 'data.json' }, { name: '/./data.json' }]],
    ['read bundle b: p.rego is a symlink, not a file', [{ name: 'p.rego', type: 'symlink', linkname: 'q' }]],
    [
      'read bundle b: p.rego is a link, not a file',
      [{ name: 'p.rego', type: 'link', linkname: '/etc/passwd' }],
    ],
    ['read bundle b: p is a fifo, not a file', [{ name: 'p', type: 'fifo' }]],
    ['read bundle b: a file has no name', [{ name: '/', type: 'file' }]],
  ]
  test.each(refused)('ends with: %s', async (message, members) => {
    await expect(unpack(...members)).rejects.toMatchObject({ kind: 'invalid', message })
  })

  test('ends early for what unpacks to more than it may', async () => {
    const bomb = gzipSync(Buffer.alloc(513 * 1024 * 1024), { level: 1 })
    await expect(unpackBundle('b', bomb)).rejects.toThrow(
      /^read bundle b: it unpacks to over 536870912 bytes$/,
    )
  })

  test('ends for too many files', async () => {
    const header = await unzippedMember()
    const bytes = gzipSync(Buffer.concat(Array.from({ length: 65_537 }, () => header)), { level: 1 })
    await expect(unpackBundle('b', bytes)).rejects.toThrow('read bundle b: it holds over 65536 files')
  })
})

async function unzippedMember(): Promise<Buffer> {
  const { gunzipSync } = await import('node:zlib')
  return gunzipSync(await packMembers([{ name: 'd', type: 'directory' }])).subarray(0, 512)
}

/** Reads bytes as a load does, up to the module. */
async function read(bytes: Uint8Array): Promise<unknown> {
  try {
    const bundle = readBundle('b', await unpackBundle('b', bytes))
    return describeBundle('b', { bytes, bundle, signer: undefined }, readData(dataFilesOf('b', bundle)))
  } catch (raw) {
    return raw
  }
}

describe('bytes that are no bundle, or a damaged one', () => {
  const isAnswer = (outcome: unknown): boolean => !(outcome instanceof Error) || outcome instanceof AppError

  test('are refused in words, when they are random', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), fc.boolean(), async (bytes, isZipped) => {
        expect(isAnswer(await read(isZipped ? gzipSync(bytes) : bytes))).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  test('are refused in words, when a bundle was mutated', async () => {
    const { gunzipSync } = await import('node:zlib')
    const bundle = await packFiles({
      '.manifest': '{"revision":"1","roots":["a"],"metadata":{}}',
      'data.json': '{"a":{"b":[1,{"c":null}]}}',
      'a/x/data.yaml': 'k: [1, 2]\n',
    })
    const archive = gunzipSync(bundle)
    const change = fc.record({ at: fc.nat(archive.length - 1), byte: fc.nat(255) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (changes, inside) => {
          const bytes = Buffer.from(inside ? archive : bundle)
          for (const { at, byte } of changes) bytes[at % bytes.length] = byte
          expect(isAnswer(await read(inside ? gzipSync(bytes) : bytes))).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })
})
