import { compareKeys } from './key-order.js'
import type { Rearrangement } from './rearrange.js'

/** Up to this many members an insertion sort beats the engine's sort. */
const FEW = 16

/** The members of the objects that are open, innermost last, and whether their keys came in order. */
export class MemberOrder {
  /** What puts the members of the objects closed so far in the order of their keys, the last of each key alone. */
  readonly rearrangements: Rearrangement[] = []
  private readonly source: Uint8Array
  /** Where each member's key is in the source, and where the member starts in the copy; only the first `count` count. */
  private readonly keys: number[] = []
  private readonly starts: number[] = []
  private count = 0
  /** Of the innermost object: the number of members before its own, and whether its keys came in order so far. */
  private base = 0
  private sorted = true
  /** The `base` of the objects around it, as -1 - `base` where the keys are out of order. */
  private readonly outer: number[] = []

  constructor(source: Uint8Array) {
    this.source = source
  }

  openObject(): void {
    this.outer.push(this.sorted ? this.base : -1 - this.base)
    this.base = this.count
    this.sorted = true
  }

  addMember(key: number, start: number): void {
    const { count, keys } = this
    if (this.sorted && count > this.base)
      this.sorted = compareKeys(this.source, keys[count - 1] ?? 0, key) < 0
    keys[count] = key
    this.starts[count] = start
    this.count = count + 1
  }

  /** Forgets the innermost object, whose last member ends at `end` in the copy with `gap` bytes between members. */
  closeObject(end: number, gap: number): void {
    if (!this.sorted) this.putInOrder(end, gap)
    this.count = this.base
    const outer = this.outer.pop() ?? 0
    this.sorted = outer >= 0
    this.base = this.sorted ? outer : -1 - outer
  }

  private putInOrder(end: number, gap: number): void {
    const { base, count, starts } = this
    const members: number[] = []
    for (let member = base; member < count; member++) members.push(member)
    this.sortByKey(members)
    const separatorEnd = starts[base + 1] ?? 0
    const parts: number[] = []
    for (let i = 0; i < members.length; i++) {
      const member = members[i] ?? 0
      const next = members[i + 1]
      if (next !== undefined && this.compare(member, next) === 0) continue
      if (parts.length > 0) parts.push(separatorEnd - gap, separatorEnd)
      parts.push(starts[member] ?? 0, member === count - 1 ? end : (starts[member + 1] ?? 0) - gap)
    }
    this.rearrangements.push({ start: starts[base] ?? 0, end, parts })
  }

  /** Sorts members, given by index, so that those of one key stay in the order of the text. */
  private sortByKey(members: number[]): void {
    if (members.length > FEW) {
      members.sort((a, b) => this.compare(a, b))
      return
    }
    for (let i = 1; i < members.length; i++) {
      const member = members[i] ?? 0
      let place = i
      for (; place > 0 && this.compare(members[place - 1] ?? 0, member) > 0; place--) {
        members[place] = members[place - 1] ?? 0
      }
      members[place] = member
    }
  }

  private compare(a: number, b: number): number {
    return compareKeys(this.source, this.keys[a] ?? 0, this.keys[b] ?? 0)
  }
}
