import type { Rearrangement } from './edited-copy.js'
import type { Extent } from './extent.js'
import { compareKeys } from './key-order.js'

/** An object member that was copied: the offset of its key in the source and its extent in the copy. */
interface CopiedMember extends Extent {
  readonly key: number
}

/** The members of the objects that are open, innermost last, and whether their keys came in order. */
export class MemberOrder {
  private readonly source: Uint8Array
  /** Two numbers per member: where its key is in the source and where it starts in the copy. */
  private readonly members: number[] = []
  private readonly objects: { readonly base: number; sorted: boolean }[] = []

  constructor(source: Uint8Array) {
    this.source = source
  }

  openObject(): void {
    this.objects.push({ base: this.members.length, sorted: true })
  }

  addMember(key: number, position: number): void {
    const object = this.objects.at(-1)
    if (object === undefined) return
    const previous = this.members.length - 2
    if (object.sorted && previous >= object.base) {
      object.sorted = compareKeys(this.source, this.members[previous] ?? 0, key) < 0
    }
    this.members.push(key, position)
  }

  /**
   * Forgets the innermost object, whose last member ends at `end` in the copy. Gives its members in the order of their keys, the
   * last of each key alone, or undefined when they stand so already. `gap` bytes separate members in the copy.
   */
  closeObject(end: number, gap: number): Rearrangement | undefined {
    const object = this.objects.pop()
    if (object === undefined) return undefined
    const members = this.members.splice(object.base)
    if (object.sorted) return undefined
    return { start: members[1] ?? end, pieces: this.inOrder(members, end, gap) }
  }

  private inOrder(members: readonly number[], end: number, gap: number): CopiedMember[] {
    const copied: CopiedMember[] = []
    for (let i = 0; i < members.length; i += 2) {
      const next = members[i + 3]
      copied.push({
        key: members[i] ?? 0,
        start: members[i + 1] ?? 0,
        end: next === undefined ? end : next - gap,
      })
    }
    copied.sort((a, b) => compareKeys(this.source, a.key, b.key))
    return copied.filter((member, i) => {
      const next = copied[i + 1]
      return next === undefined || compareKeys(this.source, member.key, next.key) !== 0
    })
  }
}
