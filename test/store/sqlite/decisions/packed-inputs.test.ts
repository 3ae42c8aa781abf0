import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { decisionDatabaseOptions } from '../../../../src/store/sqlite/decisions/decision-database.js'
import { openDatabase } from '../../../../src/store/sqlite/engine/open-database.js'
import { openShippedLog } from '../../../../src/store/sqlite/decisions/shipped-log.js'
import { aBatch, anEntry, openStore } from '../../../support/decisions.js'
import { generatePipeline } from '../../../support/generate-pipeline.js'

const MAX_INPUT = 1 << 20

const open = () => openStore({ maxInputBytes: MAX_INPUT, redact: false })
type Writer = Awaited<ReturnType<typeof open>>['writer']

function write(writer: Writer, id: string, input: Uint8Array): void {
  writer.insert(aBatch([anEntry({ decisionId: id, input })]))
}

/** Bytes of all stored text. */
function storedBytes(path: string): { readonly bytes: number; readonly groups: number } {
  const database = openDatabase(decisionDatabaseOptions(path))
  onTestFinished(() => void database.close())
  return database
    .prepare<[], { bytes: number; groups: number }>(
      `select (select coalesce(sum(length(bytes)), 0) from input_pieces)
         + (select coalesce(sum(length(coalesce(input_extents, input))), 0) from decisions) as bytes,
       (select count(*) from input_groups) as groups`,
    )
    .get()!
}

const definition = (edit: string): Buffer =>
  Buffer.from(JSON.stringify({ new: { ...generatePipeline(400), description: edit } }))

test.each([
  ['a few bytes', Buffer.from('{"a":1}')],
  ['a small input', Buffer.from(JSON.stringify({ text: 'x'.repeat(5000) }))],
  ['a large pipeline', definition('')],
  ['an input that does not compress', Buffer.from(JSON.stringify(randomBytes(300_000).toString('base64')))],
])('%s is read as it was written', async (_, input) => {
  const { writer, reader } = await open()
  write(writer, 'd', input)
  write(writer, 'again', input)
  for (const id of ['d', 'again']) {
    const found = await reader.get(id)
    expect(Buffer.from(found!.input!).equals(input)).toBe(true)
    expect(found).toMatchObject({ inputTruncated: false, inputBytes: input.length })
  }
})

test('a definition that is saved a hundred times with edits costs one and its differences', async () => {
  const { path, writer, reader } = await open()
  const first = definition('edit 0')
  expect(first.length).toBeGreaterThan(100_000)
  for (let n = 0; n < 100; n += 1) write(writer, `d${n}`, definition(`edit ${n}`))
  expect(storedBytes(path).bytes).toBeLessThan(first.length)
  const last = await reader.get('d99')
  expect(Buffer.from(last!.input!).equals(definition('edit 99'))).toBe(true)
})

test('similar small inputs that arrive one at a time cost a quarter of their JSON at most', async () => {
  const { path, writer } = await open()
  let bytes = 0
  for (let n = 0; n < 200; n += 1) {
    const stage = generatePipeline(20)
    const input = Buffer.from(
      JSON.stringify({ ...stage, executionId: randomBytes(13).toString('hex'), startTime: n }),
    )
    bytes += input.length
    write(writer, `d${n}`, input)
  }
  expect(storedBytes(path).bytes / bytes).toBeLessThan(0.25)
})

test('text is removed with the last decision that needs it', async () => {
  const { path, writer, reader } = await open()
  const [old, shared] = [randomBytes(200_000), randomBytes(5000)]
  write(writer, 'old', old)
  write(writer, 'first', shared)
  write(writer, 'second', shared)
  writer.deleteOldest(2)
  expect(Buffer.from((await reader.get('second'))!.input!).equals(shared)).toBe(true)
  expect(storedBytes(path).bytes).toBeLessThan(150_000)
  writer.deleteOldest(1)
  expect(storedBytes(path)).toEqual({ bytes: 0, groups: 0 })
  write(writer, 'third', shared)
  expect(Buffer.from((await reader.get('third'))!.input!).equals(shared)).toBe(true)
})

test('what a failed batch would have stored is not taken for stored', async () => {
  const { path, writer, reader } = await open()
  const input = randomBytes(6000)
  const database = openDatabase(decisionDatabaseOptions(path))
  database.exec(
    `create trigger refuse before insert on decisions when new.decision_id = 'bad' begin select raise(abort, 'no'); end`,
  )
  database.close()
  const batch = aBatch([anEntry({ decisionId: 'lost', input }), anEntry({ decisionId: 'bad' })])
  expect(() => writer.insert(batch)).toThrow('write decisions')
  write(writer, 'kept', input)
  expect(Buffer.from((await reader.get('kept'))!.input!).equals(input)).toBe(true)
})

test('an input whose text is missing counts as cut', async () => {
  const { path, writer, reader } = await open()
  write(writer, 'd', randomBytes(6000))
  const database = openDatabase(decisionDatabaseOptions(path))
  database.exec('delete from input_pieces')
  database.close()
  expect(await reader.get('d')).toMatchObject({ inputTruncated: true, inputBytes: 6000 })
})

test('a page without inputs is not shortened by their size', async () => {
  const { writer, reader } = await open()
  for (let n = 0; n < 10; n += 1) write(writer, `d${n}`, randomBytes(50_000))
  const bounds = { rows: 50, bytes: 100_000 }
  expect((await reader.page({}, bounds)).decisions.length).toBeLessThan(10)
  const { decisions } = await reader.page({}, { ...bounds, withInputs: false })
  expect(decisions.map(({ input }) => input)).toEqual(Array.from({ length: 10 }, () => null))
})

test('a decision is shipped with its whole input', async () => {
  const { path, writer } = await open()
  const input = randomBytes(50_000)
  write(writer, 'd', input)
  const log = openShippedLog(path)
  onTestFinished(() => log.close())
  const next = log.next({ rows: 10, bytes: 1 << 20 })
  expect(Buffer.from(next!.decisions[0]!.input!).equals(input)).toBe(true)
})
