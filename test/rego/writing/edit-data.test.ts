import { describe, expect, test } from 'vitest'

import { loadData } from '../../../src/rego/data/load-data.js'
import type { DataFile } from '../../../src/rego/data/load-data.js'
import { printJson } from '../../../src/rego/values/print-text.js'
import { RegoNumber, RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { dataOf } from '../../../src/rego/wasm/data/data-image.js'
import type { DataChange } from '../../../src/rego/writing/change-inside.js'
import { editData } from '../../../src/rego/writing/edit-data.js'

/** The base documents of a service after changes, each of which is loaded. */
class Store {
  edits: readonly DataFile[] = []
  readonly #files: readonly DataFile[]

  constructor(documents: string) {
    this.#files = [{ file: 'data.json', at: [], content: Buffer.from(documents) }]
  }

  get #loaded(): { readonly data: RegoObject; readonly fileData: RegoObject } {
    const { image, unedited = image.root } = loadData([[...this.#files, ...this.edits]], 65_536)
    return { data: dataOf(image), fileData: dataOf({ ...image, root: unedited }) }
  }

  get text(): string {
    return printJson(this.#loaded.data)
  }

  change(...changes: readonly Partial<DataChange>[]): this {
    const whole = changes.map((change) => ({
      ...{ op: 'add' as const, path: [], value: null, createsParents: true },
      ...change,
    }))
    this.edits = editData(this.#loaded, this.edits, whole)
    return this
  }

  refusal(...changes: readonly Partial<DataChange>[]): string {
    try {
      this.change(...changes)
      return 'none'
    } catch (raw) {
      return String(raw)
    }
  }
}

const number = (text: string): RegoValue => new RegoNumber(text)

describe('a change of base documents', () => {
  test('replaces a document of a file, creates objects above it, and keeps numbers as written', () => {
    const store = new Store('{"a":{"b":1.50,"c":2}}')
    store.change({ path: ['a', 'b'], value: number('1e3') }, { path: ['new', 'x'], value: number('0.10') })
    expect(store.text).toBe('{"a":{"b":1e3,"c":2},"new":{"x":0.10}}')
  })

  test('inserts into an array, appends to it, and reaches through it', () => {
    const store = new Store('{"l":[1,{"k":1}]}')
    store.change({ path: ['l', '0'], value: 'first' })
    store.change({ path: ['l', '-'], value: 'last' })
    store.change({ path: ['l', '2', 'deep', 'er'], value: true })
    store.change({ op: 'remove', path: ['l', '1'] })
    expect(store.text).toBe('{"l":["first",{"deep":{"er":true},"k":1},"last"]}')
  })

  test('sees the changes before it', () => {
    const store = new Store('{}')
    store.change(
      { path: ['o'], value: new RegoObject([]) },
      { path: ['o', 'l'], value: [], createsParents: false },
      { path: ['o', 'l', '-'], value: 'x', createsParents: false },
      { op: 'replace', path: ['o', 'l', '0'], value: 'y' },
    )
    expect(store.text).toBe('{"o":{"l":["y"]}}')
  })

  test('that fails leaves those before it undone', () => {
    const store = new Store('{"a":1}')
    expect(store.refusal({ path: ['b'] }, { op: 'remove', path: ['none'] })).toMatch(/does not exist/)
    expect(store.text).toBe('{"a":1}')
  })

  test.each([
    [{ op: 'remove', path: ['none'] }, /document does not exist/],
    [{ op: 'replace', path: ['a', 'none'] }, /document does not exist/],
    [{ op: 'add', path: ['none', 'x'], createsParents: false }, /document does not exist/],
    [{ op: 'add', path: ['a', 'x', 'y'], createsParents: false }, /document does not exist/],
    [{ op: 'remove', path: ['l', '1'] }, /\/l\/1: array index out of range/],
    [{ op: 'add', path: ['l', 'x'] }, /\/l\/x: array index must be integer/],
    [{ op: 'remove', path: ['l', '-'] }, /\/l\/-: invalid patch path/],
    [{ op: 'remove', path: [] }, /root cannot be removed/],
    [{ op: 'add', path: [], value: 'text' }, /root must be object/],
  ] as const)('%j is refused', (change, problem) => {
    expect(new Store('{"a":{"b":1},"l":[1]}').refusal(change)).toMatch(problem)
  })

  test('of the root replaces everything, and files do not come back with later ones', () => {
    const store = new Store('{"a":1,"b":2}')
    store.change({ path: [], value: RegoObject.fromRecord({ only: 'this' }) })
    store.change({ path: ['more'], value: true })
    expect(store.text).toBe('{"more":true,"only":"this"}')
  })
})

describe('a patch with thousands of changes', () => {
  const MANY = 5_000
  const numbers = Array.from({ length: MANY }, (_, place) => place)

  test('appends to an array, and changes objects in it', () => {
    const store = new Store('{"l":[]}')
    store.change(...numbers.map((place) => ({ path: ['l', '-'], value: number(String(place)) })))
    expect(JSON.parse(store.text)).toEqual({ l: numbers })
  })

  test('adds, replaces and removes members', () => {
    const store = new Store('{"old":{"kept":0}}')
    store.change(
      ...numbers.map((place) => ({ path: ['old', `k${place}`], value: new RegoObject([]) })),
      ...numbers.map((place) => ({ path: ['old', `k${place}`, 'x'], value: number(String(place)) })),
      ...numbers.slice(1).map((place) => ({ op: 'remove' as const, path: ['old', `k${place}`] })),
    )
    expect(store.text).toBe('{"old":{"k0":{"x":0},"kept":0}}')
    store.change({ path: ['old'], value: true }, { op: 'remove', path: ['old'] })
    expect([store.text, store.edits.length]).toEqual(['{}', 1])
  })

  test.each([
    ['elements', (): RegoValue => Array.from({ length: 30_000 }, () => null), ['l', '-']],
    [
      'members in an array',
      (): RegoValue => [new RegoObject(numbers.map((place) => [`k${place}`, null] as const))],
      ['l', '0', 'x'],
    ],
  ])('is refused if it copies too many %s', (_, large, path) => {
    const store = new Store('{}')
    store.change({ path: ['l'], value: large() })
    expect(store.refusal(...numbers.map(() => ({ path })))).toContain('copy large arrays too often')
  })
})

describe('what is kept of many changes', () => {
  test('is one edit for a document that is replaced often', () => {
    const store = new Store('{}')
    for (const text of ['1', '2', '3']) store.change({ path: ['a', 'b'], value: number(text) })
    expect([store.edits.length, store.text]).toEqual([1, '{"a":{"b":3}}'])
  })

  test('is nothing of documents that were written and deleted, and the object around them', () => {
    const store = new Store('{"sessions":{}}')
    for (const id of ['a', 'b', 'c']) {
      store.change({ path: ['sessions', id, 'user'], value: id })
      store.change({ op: 'remove', path: ['sessions', id] })
    }
    expect([store.edits, store.text]).toEqual([[], '{"sessions":{}}'])
    store.change({ path: ['new', 'x'], value: true })
    store.change({ op: 'remove', path: ['new', 'x'] })
    expect(store.text).toBe('{"new":{},"sessions":{}}')
  })

  test('is the removal of a document of a file', () => {
    const store = new Store('{"a":{"b":1,"c":2}}')
    store.change({ op: 'remove', path: ['a', 'b'] })
    expect([store.edits.length, store.text]).toEqual([1, '{"a":{"c":2}}'])
    store.change({ path: ['a', 'b', 'again'], value: true })
    expect([store.edits.length, store.text]).toEqual([2, '{"a":{"b":{"again":true},"c":2}}'])
  })
})
