import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { compareList } from '../../../src/events/registry/compare-list.js'
import type { ListToCompare } from '../../../src/events/registry/compare-list.js'
import { applyChanges } from '../../../src/events/registry/registry-operations.js'
import type { RegistryChange } from '../../../src/events/registry/registry-change.js'
import { useServiceStore } from '../../support/service-store.js'
import type { TestStore } from '../../support/service-store.js'

const LISTED_AT = 1_760_000_000_000
const open = useServiceStore()
let store: TestStore
let directory: string

beforeEach(async () => {
  store = await open()
  directory = mkdtempSync(join(tmpdir(), 'tidegate-compare-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

function listOf(text: string): ListToCompare {
  const path = join(directory, 'list.json')
  writeFileSync(path, text)
  return { kind: 'pipelines', path, listedAt: LISTED_AT, maxDefinitionBytes: 10_000, maxMissingPercent: 50 }
}

function pipelines(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    name: `p${index}`,
    application: 'shop',
  }))
}

async function changesOf(list: ListToCompare): Promise<RegistryChange[][]> {
  const steps: RegistryChange[][] = []
  await compareList(list, store.reader, async (changes) => {
    steps.push(JSON.parse(changes) as RegistryChange[])
    await store.writer.run(applyChanges, { changes, nowMs: LISTED_AT - 1 })
  })
  return steps
}

describe('a list that is compared with the registry', () => {
  it('hands over all that differs, a few changes at a time', async () => {
    const steps = await changesOf(listOf(JSON.stringify(pipelines(50))))
    expect(steps.map(({ length }) => length)).toEqual([20, 20, 10])
    expect(steps.flat().map((change) => change.type)).toEqual(Array(50).fill('pipeline.upserted'))
    expect(await changesOf(listOf(JSON.stringify(pipelines(50))))).toEqual([])
  })

  it('hands over what is gone at the end', async () => {
    await changesOf(listOf(JSON.stringify(pipelines(50))))
    const steps = await changesOf({ ...listOf(JSON.stringify(pipelines(26))), listedAt: LISTED_AT + 1 })
    expect(steps.map(({ length }) => length)).toEqual([20, 4])
    expect(steps.flat()).toMatchObject(
      pipelines(50)
        .slice(26)
        .map((_, index) => ({ type: 'pipeline.deleted', pipeline: `p${index + 26}` })),
    )
  })

  it('goes on only when the changes before have been taken', async () => {
    let underWay = 0
    let most = 0
    await compareList(listOf(JSON.stringify(pipelines(60))), store.reader, async () => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay -= 1
    })
    expect(most).toBe(1)
  })

  it('ends when changes cannot be taken', async () => {
    let asked = 0
    const comparing = compareList(listOf(JSON.stringify(pipelines(60))), store.reader, () => {
      asked += 1
      return Promise.reject(new Error('the disk is full'))
    })
    await expect(comparing).rejects.toThrow('the disk is full')
    expect(asked).toBe(1)
  })

  it.each([
    ['is cut off behind many good definitions', (text: string) => text.slice(0, -1)],
    ['ends with something that is no object', (text: string) => `${text.slice(0, -1)},7]`],
    ['is followed by another', (text: string) => `${text}[]`],
  ])('changes nothing when it %s', async (_, spoil) => {
    let asked = 0
    const text = JSON.stringify(pipelines(60))
    const comparing = compareList(listOf(spoil(text)), store.reader, () => {
      asked += 1
      return Promise.resolve()
    })
    await expect(comparing).rejects.toMatchObject({ kind: 'unavailable' })
    expect(asked).toBe(0)
  })
})
