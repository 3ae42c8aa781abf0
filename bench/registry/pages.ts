import { sendJson } from '../steady-load.js'
import { applicationName, pipelineName } from './definitions.js'

const ASKED = 300
const STRIDE = 7919

/** The time, in milliseconds, that 99 of a hundred pages stay below. */
export interface PageFigure {
  readonly name: string
  readonly pages: number
  readonly p99Ms: number
}

export interface RegistrySize {
  readonly applications: number
  readonly pipelines: number
}

/** Asks for pages in the ways in which people do, one after the other. */
export async function measurePages(url: string, size: RegistrySize): Promise<PageFigure[]> {
  const figures: PageFigure[] = []
  for (const kind of ['applications', 'pipelines'] as const) {
    const names = kind === 'applications' ? applicationName : pipelineName
    const some = (index: number): number => (index * STRIDE) % size[kind]
    figures.push(
      await timed(`${kind}, first page`, repeated(`${url}/${kind}`)),
      await timed(`${kind}, by cursor to the end`, allPages(`${url}/${kind}?limit=50`)),
      await timed(`${kind}, by cursor, 500 a page`, allPages(`${url}/${kind}?limit=500`)),
      await timed(
        `${kind}, by name`,
        repeated(`${url}/${kind}?name=`, (index) => names(some(index))),
      ),
      await timed(`${kind}, by a name that none has`, repeated(`${url}/${kind}?name=nowhere`)),
    )
  }
  const application = (index: number): string => applicationName((index * STRIDE) % size.applications)
  figures.push(
    await timed('pipelines, of an application', repeated(`${url}/pipelines?application=`, application)),
  )
  return figures
}

async function timed(name: string, pages: AsyncIterable<unknown>): Promise<PageFigure> {
  const times: number[] = []
  let startedAt = performance.now()
  for await (const page of pages) {
    if (page === undefined) throw new Error(`${name}: no page`)
    times.push(performance.now() - startedAt)
    startedAt = performance.now()
  }
  times.sort((one, other) => one - other)
  return { name, pages: times.length, p99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? 0 }
}

async function* repeated(url: string, end: (index: number) => string = () => ''): AsyncGenerator<string> {
  for (let index = 0; index < ASKED; index += 1) yield await sendJson(url + end(index), 'GET', 'ana')
}

async function* allPages(url: string): AsyncGenerator<string> {
  let cursor: string | undefined
  do {
    const page = await sendJson(cursor === undefined ? url : `${url}&cursor=${cursor}`, 'GET', 'ana')
    yield page
    cursor = (JSON.parse(page) as { readonly nextCursor?: string }).nextCursor
  } while (cursor !== undefined)
}
