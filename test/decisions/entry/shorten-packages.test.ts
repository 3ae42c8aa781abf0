import { describe, expect, it } from 'vitest'

import { shortenPackages } from '../../../src/decisions/buffered-decision-log.js'

const team = (number: number): { package: string; deny: string[] } => ({
  package: `static.team${number}`,
  deny: [`team ${number} says no`, 'ä'.repeat(40)],
})
const teams = (count: number): Buffer =>
  Buffer.from(JSON.stringify(Array.from({ length: count }, (_, n) => team(n))))

function shortened(count: number, mostBytes: number): { bytes: number; packages: unknown } {
  const short = shortenPackages(teams(count), mostBytes)
  return { bytes: short?.length ?? 0, packages: short && JSON.parse(Buffer.from(short).toString()) }
}

describe('the packages of a denial in the decision log', () => {
  it('are whole where there is room', () => {
    expect(shortenPackages(teams(3), teams(3).length)).toEqual(teams(3))
  })

  it('are whole as far as there is room, and then go on with their names', () => {
    const { bytes, packages } = shortened(30, 2500)
    expect(bytes).toBeLessThanOrEqual(2500)
    const list = packages as unknown[]
    expect(list).toHaveLength(30)
    expect(list.slice(0, 2)).toEqual([team(0), team(1)])
    expect(list.at(-1)).toEqual({ package: 'static.team29', deny: [], denyLeftOut: 2 })
  })

  it('end with how many there was no room for', () => {
    const { bytes, packages } = shortened(1000, 4096)
    expect(bytes).toBeLessThanOrEqual(4096)
    const list = packages as unknown[]
    expect(list[0]).toEqual({ package: 'static.team0', deny: [], denyLeftOut: 2 })
    expect(list.at(-1)).toEqual({ packagesLeftOut: 1000 - (list.length - 1) })
  })

  it.each([0, 10, 60])('are not kept at all within %d bytes', (bytes) => {
    expect(shortenPackages(teams(2), bytes)).toBeUndefined()
  })
})
