import { existsSync } from 'node:fs'

import { findOpa } from '../src/pdp/opa/find-opa.js'
import { opaRelease } from '../src/pdp/opa/opa-release.js'

/** A peer to measure beside ours. */
export interface OpaPeer {
  /** `OPA 1.20.2`. */
  readonly name: string
  readonly path: string
}

/** The `opa` that policies are compiled with, and those of a list PATH,PATH and of BENCH_OPA; one that is not there is left out, with a word. */
export async function opaPeers(list: string): Promise<OpaPeer[]> {
  const others = [...list.split(','), ...(process.env['BENCH_OPA'] ?? '').split(',')].filter(Boolean)
  const paths = [(await findOpa({ env: process.env })).path, ...others]
  const peers: OpaPeer[] = []
  for (const path of paths) {
    if (existsSync(path)) peers.push({ name: `OPA ${await opaRelease({ path, source: '--opa' })}`, path })
    else console.error(`${path} is not there: it is left out`)
  }
  return peers
}
