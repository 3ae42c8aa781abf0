import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { max, median } from 'd3-array'

import { BundleFolder } from '../../src/distribution/bundle-folder.js'
import { makeFetch } from '../../src/distribution/fetching/make-fetch.js'
import { PolicySource } from '../../src/distribution/policy-source.js'
import { wait } from '../../src/lib/outbound/back-off.js'
import { startBundleServer } from '../../test/support/bundle-server.js'
import { ask } from '../../test/support/http-client.js'
import { signedBundle } from '../../test/support/sign-bundle.js'
import { readFlags, table } from '../lib/report.js'
import { startTidegate, withFolder } from '../lib/servers.js'
import type { Server } from '../lib/servers.js'

/**
 * `make bench-distribution`: time from publishing a signed revision of a source bundle until two
 * services decide with it, and simulated clients have stored it. Everything is on this machine. The
 * publisher is a bundle server, or a service that publishes the policies that it serves.
 */

const flags = readFlags({
  clients: ['100', 'simulated clients: the polling of a service without its compiler'],
  from: ['server', 'publisher: server, or tidegate for GET /bundles of a service that compiles it first'],
  revisions: ['10', 'published revisions; median and maximum are printed'],
})
const SECRET = 'the secret of this measurement'
const LIMIT_MS = 60_000
const POLL_MS = 5

const bundleOf = (revision: number): Promise<Buffer> =>
  signedBundle(
    {
      '.manifest': JSON.stringify({ revision: String(revision), roots: ['app'] }),
      'app.rego': `package app\nimport rego.v1\nrevision := ${revision}\n`,
    },
    SECRET,
  )

/** Publishes revisions at an address. */
interface Publisher {
  readonly url: string
  readonly publish: (revision: number) => Promise<void>
  readonly end: () => Promise<unknown>
}

async function openServer(): Promise<Publisher> {
  const server = await startBundleServer()
  return {
    url: server.urlOf('main'),
    publish: async (revision) => server.publish('main', await bundleOf(revision)),
    end: server.close,
  }
}

/** A service that compiles a directory, and publishes what it serves with a signature. */
async function openService(folder: string): Promise<Publisher> {
  const directory = join(folder, 'published')
  mkdirSync(directory)
  const write = (revision: number): void =>
    writeFileSync(join(directory, 'app.rego'), `package app\nimport rego.v1\nrevision := ${revision}\n`)
  write(0)
  const signing = { algorithm: 'HS256', secret: { env: 'BENCH_SECRET' }, keyId: 'publisher' }
  const config = { policies: { publish: { name: 'main', signing } }, server: { workers: 1 } }
  const service = await startTidegate({ directory: join(folder, 'publisher'), policies: directory, config })
  return {
    url: `${service.url}/bundles/main`,
    publish: async (revision) => {
      write(revision)
      await ask(service.url, { method: 'POST', path: '/policies/refresh' })
    },
    end: service.end,
  }
}

function simulate(url: string, folder: string, count: number): PolicySource[] {
  return Array.from({ length: count }, (_, nth) => {
    const access = { headers: {}, tls: {}, timeoutMs: LIMIT_MS }
    const { fetch } = makeFetch(`client-${nth}`, { type: 'http', url, access }, folder)
    const source: PolicySource = new PolicySource(
      {
        ...{ name: `client-${nth}`, place: url, minDelayMs: LIMIT_MS, maxDelayMs: LIMIT_MS },
        ...{ longPollMs: 30_000, staleAfterMs: LIMIT_MS, staleIsNotReady: false },
      },
      {
        fetch,
        folder: new BundleFolder(join(folder, String(nth)), url),
        activate: async () => {
          if (source.candidate !== undefined) await source.accept(source.candidate, '')
        },
        failed: (_name, error) => console.error(error.message),
        ...{ now: Date.now, random: Math.random, wait },
      },
    )
    return source
  })
}

async function decides(server: Server, revision: number): Promise<boolean> {
  const { text } = await ask(server.url, { path: '/v1/data/app/revision', body: '{"input":{}}' })
  return new RegExp(`"result":\\s*${revision}\\b`).test(text)
}

/** Milliseconds until a condition holds. Throws after a minute. */
async function passed(begun: number, holds: () => Promise<boolean> | boolean): Promise<number> {
  while (!(await holds())) {
    if (performance.now() - begun > LIMIT_MS) throw new Error('the revision did not arrive within a minute')
    await sleep(POLL_MS)
  }
  return performance.now() - begun
}

await withFolder(async (folder) => {
  process.env['BENCH_SECRET'] = SECRET
  const publisher = flags.from === 'tidegate' ? await openService(folder) : await openServer()
  await publisher.publish(0)
  const config = {
    policies: {
      directories: [],
      sources: [{ name: 'main', type: 'http', url: publisher.url }],
      bundleSigning: { keys: [{ id: 'publisher', algorithm: 'HS256', secret: { env: 'BENCH_SECRET' } }] },
    },
    server: { workers: 1 },
  }
  const servers = await Promise.all(
    ['one', 'two'].map((name) => startTidegate({ directory: join(folder, name), config })),
  )
  const clients = simulate(publisher.url, join(folder, 'clients'), Number(flags.clients))
  for (const client of clients) client.start()
  await passed(performance.now(), () => clients.every(({ history }) => history.length > 0))
  const [served, stored]: [number[], number[]] = [[], []]
  for (let revision = 1; revision <= Number(flags.revisions); revision++) {
    // All clients wait for a change again.
    await sleep(1500)
    const before = clients.map(({ serving }) => serving?.digest)
    const begun = performance.now()
    const [, inServices, inClients] = await Promise.all([
      publisher.publish(revision),
      Promise.all(servers.map((server) => passed(begun, () => decides(server, revision)))),
      passed(begun, () => clients.every(({ serving }, nth) => serving?.digest !== before[nth])),
    ])
    served.push(...inServices)
    stored.push(inClients)
  }
  const row = table('Time from publication, in ms', 'who | median | max')
  row('two services decide with the revision', median(served), max(served))
  row(`${flags.clients} simulated clients have stored it`, median(stored), max(stored))
  await Promise.all(clients.map((client) => client.stop()))
  await Promise.all(servers.map((server) => server.end()))
  await publisher.end()
})
process.exit()
