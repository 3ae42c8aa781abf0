import { expect, test } from 'vitest'

import { AppError } from '../../../../src/errors/app-error.js'
import { HomeFeed } from '../../../../src/http/routes/pages/home-feed.js'
import { FakeExchange } from '../../../support/fake-exchange.js'

const SOON_MS = 5

async function* textOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) yield decoder.decode(chunk as Uint8Array)
}

/** Reads until a chunk contains a text. */
async function readUntil(chunks: AsyncGenerator<string>, wanted: string): Promise<string> {
  for await (const chunk of chunks) if (chunk.includes(wanted)) return chunk
  throw new Error(`the stream ended without ${wanted}`)
}

const open = (feed: HomeFeed, render: () => Promise<string>, authenticate = () => Promise.resolve()) =>
  feed.open(new FakeExchange({ method: 'GET' }), { render, authenticate })

test('a changed page is sent line by line, and an unchanged one is not', async () => {
  const feed = new HomeFeed(SOON_MS)
  let page = 'one'
  const response = await open(feed, () => Promise.resolve(page))
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const chunks = textOf(response)
  expect((await chunks.next()).value).toBe(': open\n\n')
  expect((await chunks.next()).value).toBe(': unchanged\n\n')
  page = 'two\nlines\rdata: 3'
  expect(await readUntil(chunks, 'event: page')).toBe(
    'event: page\ndata: two\ndata: lines\ndata: data: 3\n\n',
  )
  feed.close()
})

test('it ends with the session of the viewer', async () => {
  const ended = () => Promise.reject(new AppError('unauthenticated', 'Sign in.'))
  const chunks = textOf(await open(new HomeFeed(SOON_MS), () => Promise.resolve('same'), ended))
  expect(await readUntil(chunks, 'event:')).toBe('event: end\ndata: \n\n')
  expect((await chunks.next()).done).toBe(true)
})

test('it ends when the service stops', async () => {
  const feed = new HomeFeed()
  const chunks = textOf(await open(feed, () => Promise.resolve('same')))
  await chunks.next()
  const next = chunks.next()
  feed.close()
  expect((await next).done).toBe(true)
})

test('more than two hundred open pages are refused until one is closed', async () => {
  const feed = new HomeFeed()
  const render = () => Promise.resolve('same')
  const responses = await Promise.all(Array.from({ length: 200 }, () => open(feed, render)))
  await expect(open(feed, render)).rejects.toMatchObject({ kind: 'unavailable' })
  await responses[0]?.body?.cancel()
  await open(feed, render)
  feed.close()
})

test('all viewers share one look at the store, and a failed one is not kept', async () => {
  const feed = new HomeFeed()
  const found = { waiting: 1, denied: undefined, runs: [], parts: [] }
  await expect(feed.shared(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  const first = feed.shared(() => Promise.resolve(found))
  const second = feed.shared(() => Promise.reject(new Error('not called')))
  expect(await Promise.all([first, second])).toEqual([found, found])
})
