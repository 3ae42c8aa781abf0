import { expect, test } from 'vitest'

import { findDataOutside, ownedRoots } from '../../../src/rego/archive/roots.js'
import { DefinedDocuments } from '../../../src/rego/lint/analyse-parts.js'
import { dataOf } from '../../../src/rego/wasm/data/data-image.js'
import { imageOf } from '../../support/data-image.js'

const NUMBERS = Array.from({ length: 10_000 }, (_, number) => number)

/** Base documents with long arrays, and how many values and keys of them have been read. */
function countedData(): { data: ReturnType<typeof dataOf>; reads: () => number } {
  let reads = 0
  const image = imageOf(JSON.stringify({ long: NUMBERS, team: { long: NUMBERS } }))
  return { data: dataOf(image, () => void (reads += 1)), reads: () => reads }
}

test('roots, and data outside of given ones, are found without reading what lies below', () => {
  const { data, reads } = countedData()
  expect(ownedRoots([['team', 'policy']], data)).toEqual(['long', 'team/long', 'team/policy'])
  expect(findDataOutside(['long', 'team/policy'], data)).toBe('team/long')
  expect(reads()).toBeLessThan(20)
})

test('whether a path leads to a base document is told without reading it', () => {
  const { data, reads } = countedData()
  const documents = new DefinedDocuments([{ packagePath: ['team', 'policy'], path: ['allow'] }], data)
  const isDefined = (...path: string[]): boolean => documents.find(path).isDefined
  expect(isDefined('long')).toBe(true)
  expect(isDefined('team', 'long')).toBe(true)
  expect(isDefined('team', 'policy')).toBe(true)
  expect(isDefined('team', 'policy', 'allow', 'more')).toBe(true)
  expect(documents.find(['team', 'lang'])).toMatchObject({ isDefined: false, known: 1 })
  expect(documents.find(['team', 'lang']).names()).toEqual(['policy', 'long'])
  expect(reads()).toBeLessThan(20)
})

test('what a path leads to within a base document is told, too, without reading what is next to it', () => {
  const { data, reads } = countedData()
  const documents = new DefinedDocuments([], data)
  expect(documents.find(['long', 9999]).isDefined).toBe(true)
  expect(documents.find(['long', 10_000])).toMatchObject({ isDefined: false, known: 1 })
  expect(documents.find(['long', 3, 'name']).isDefined).toBe(false)
  expect(reads()).toBeLessThan(20)
})

test('the names of a table of thousands are not read for one that it lacks', () => {
  let reads = 0
  const users = Object.fromEntries(NUMBERS.map((number) => [`user-${number}`, number]))
  const image = imageOf(JSON.stringify({ users }))
  const documents = new DefinedDocuments(
    [{ packagePath: ['users'], path: ['known'] }],
    dataOf(image, () => void (reads += 1)),
  )
  expect(documents.find(['users', 'user-x']).names()).toEqual(['known'])
  expect(reads).toBeLessThan(20)
})
