import { expect, test } from 'vitest'

import { findDefinition } from '../../../src/analysis/runs/analysis-operations.js'
import { defineAnalysis } from '../../../src/analysis/runs/define-analysis.js'
import {
  deleteTemplate,
  findTemplate,
  listTemplates,
  saveTemplate,
} from '../../../src/analysis/runs/template-operations.js'
import { START_MS } from '../../support/analyses.js'
import { FILE_ANALYSIS } from '../../support/file-analysis.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const actor = { nowMs: START_MS, user: 'ana', origin: 'test' }

test('an application whose name no registration could give is not defined', async () => {
  const store = await open()
  const longest = 'x'.repeat(2000)
  const define = (application: string): Promise<unknown> =>
    defineAnalysis(store, { application, document: FILE_ANALYSIS, origin: 'api' }, actor)
  await define(longest)
  expect(await store.reader.run(findDefinition, longest)).toBeDefined()
  await expect(define(`${longest}x`)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'the name of the application has more than 2000 characters',
  })
})

test('a template that may not replace another is found by its SHA-1 alone, and a deleted name by nothing', async () => {
  const store = await open()
  const type = 'METRIC'
  const save = (version: string, mayReplace: boolean): Promise<void> => {
    const template = {
      type,
      name: 'load',
      sha1: version.repeat(40),
      body: version,
      createdMs: START_MS,
    } as const
    return store.writer.run(saveTemplate, { template, mayReplace, actor })
  }
  const find = async (sha1?: string): Promise<string | undefined> =>
    (await store.reader.run(findTemplate, { type, name: 'load', sha1 }))?.body
  await save('a', false)
  await save('b', false)
  await save('a', false)
  expect([await find(), await find('a'.repeat(40)), await find('b'.repeat(40))]).toEqual(['a', 'a', 'b'])
  await save('b', true)
  // An equal version, from a client that may not replace, changes nothing.
  await save('a', false)
  expect(await find()).toBe('b')
  expect(await store.reader.run(listTemplates, type)).toEqual(['load'])
  await store.writer.run(deleteTemplate, { type, name: 'load', actor })
  expect([await find(), await find('a'.repeat(40))]).toEqual([undefined, undefined])
  await expect(store.writer.run(deleteTemplate, { type, name: 'load', actor })).rejects.toMatchObject({
    kind: 'not_found',
  })
})
