import { Kind } from 'graphql'
import type { ArgumentNode, DirectiveNode, TypeNode, ValueNode } from 'graphql'

import { RegoNumber } from '../../values/value.js'
import type { RegoArray, RegoObject } from '../../values/value.js'
import { prunedObject } from './pruned-object.js'
import { VALUE_KINDS } from './schema/definition-kinds.js'

/** The directives of a node as gqlparser's tree holds them. */
export function printDirectives(directives: readonly DirectiveNode[] = []): RegoArray {
  return directives.map(({ name, arguments: args }) =>
    prunedObject({ Name: name.value, Arguments: printArguments(args), Location: '' }),
  )
}

/** The arguments that a field or a directive is given. */
export function printArguments(args: readonly ArgumentNode[] = []): RegoArray {
  return args.map(({ name, value }) => prunedObject({ Name: name.value, Value: printValue(value) }))
}

/** A type reference: `[Int!]` is an `Elem` below a type without a name. */
export function printType(type: TypeNode): RegoObject {
  const isNonNull = type.kind === Kind.NON_NULL_TYPE
  const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type
  return inner.kind === Kind.LIST_TYPE
    ? prunedObject({ NamedType: '', Elem: printType(inner.type), NonNull: isNonNull })
    : prunedObject({ NamedType: inner.name.value, NonNull: isNonNull })
}

/** A literal or a variable: its text, the number of its kind, and the members of a list or an object. */
export function printValue(value: ValueNode): RegoObject {
  return prunedObject({
    Raw: rawText(value),
    Kind: RegoNumber.of(kindNumber(value)),
    // It is filled in when the query is verified, and OPA prints what was there before.
    ExpectedTypeHasDefault: false,
    Children: printChildren(value),
  })
}

function printChildren(value: ValueNode): RegoArray {
  switch (value.kind) {
    case Kind.LIST:
      return value.values.map((member) => prunedObject({ Name: '', Value: printValue(member) }))
    case Kind.OBJECT:
      return value.fields.map((field) =>
        prunedObject({ Name: field.name.value, Value: printValue(field.value) }),
      )
    default:
      return []
  }
}

function kindNumber(value: ValueNode): number {
  return value.kind === Kind.STRING && value.block === true ? VALUE_KINDS.block : VALUE_KINDS[value.kind]
}

function rawText(value: ValueNode): string {
  switch (value.kind) {
    case Kind.VARIABLE:
      return value.name.value
    case Kind.NULL:
      return 'null'
    case Kind.LIST:
    case Kind.OBJECT:
      return ''
    default:
      return String(value.value)
  }
}
