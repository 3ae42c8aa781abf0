import { STRETCHES, sumOfCells } from './request-table.js'
import type { RequestCell, RequestTable } from './request-table.js'

/** A route of which a side has fewer is compared among all such. */
export const LEAST_REQUESTS = 20

/** One route, or all that are rare, on both sides, by stretch. */
export interface Stratum {
  /** Undefined for all that are rare together. */
  readonly route: string | undefined
  readonly baseline: readonly RequestCell[]
  readonly canary: readonly RequestCell[]
}

/** The routes of both sides, those that are rare as one. */
export function strataOf(baseline: RequestTable, canary: RequestTable): readonly Stratum[] {
  const named: Stratum[] = []
  const rare: Stratum[] = []
  for (const route of new Set([...baseline.keys(), ...canary.keys()])) {
    const stratum = { route, baseline: baseline.get(route) ?? [], canary: canary.get(route) ?? [] }
    const least = Math.min(sumOfCells(stratum.baseline).requests, sumOfCells(stratum.canary).requests)
    const list = least >= LEAST_REQUESTS ? named : rare
    list.push(stratum)
  }
  return [
    ...named,
    { route: undefined, baseline: together(rare, 'baseline'), canary: together(rare, 'canary') },
  ]
}

/** The requests of a side by stretch, whatever their route. */
export function together(strata: readonly Stratum[], side: 'baseline' | 'canary'): RequestCell[] {
  return Array.from({ length: STRETCHES }, (_, n) =>
    sumOfCells(strata.flatMap((stratum) => stratum[side].slice(n, n + 1))),
  )
}

/** All requests of a side. */
export function totalOf(strata: readonly Stratum[], side: 'baseline' | 'canary'): RequestCell {
  return sumOfCells(strata.flatMap((stratum) => stratum[side]))
}
