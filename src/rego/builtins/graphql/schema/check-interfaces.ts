import { Kind, print } from 'graphql'
import type { InputValueDefinitionNode, TypeDefinitionNode, TypeNode } from 'graphql'

import { definitionKind } from './definition-kinds.js'
import { argumentsOf, fieldsOf, interfacesOf } from './definition-members.js'
import type { MemberField } from './definition-members.js'
import { schemaError } from './schema-error.js'
import type { SchemaSymbols } from './schema-symbols.js'

/** Raises BuiltinError when a type does not keep to an interface that it says to implement. */
export function checkInterfaces(type: TypeDefinitionNode, symbols: SchemaSymbols): void {
  const fields = new Map(fieldsOf(type).map((field) => [field.name.value, field]))
  const names = new Set(interfacesOf(type))
  for (const name of names) {
    const contract = findInterface(name, type, symbols)
    checkContract({ type, fields, contract }, symbols)
    checkAncestors(type, contract, names)
  }
}

function findInterface(name: string, type: TypeDefinitionNode, symbols: SchemaSymbols): TypeDefinitionNode {
  const kind = symbols.kindOf(name)
  const contract = symbols.types.get(name)
  if (kind === undefined) schemaError(type, `Undefined type ${JSON.stringify(name)}.`)
  if (contract !== undefined && definitionKind(contract) === 'INTERFACE') return contract
  return schemaError(type, `${JSON.stringify(name)} is a non interface type ${kind}.`)
}

interface Implementation {
  readonly type: TypeDefinitionNode
  readonly fields: ReadonlyMap<string, MemberField>
  readonly contract: TypeDefinitionNode
}

function checkContract({ type, fields, contract }: Implementation, symbols: SchemaSymbols): void {
  const goal = `For ${type.name.value} to implement ${contract.name.value}`
  for (const required of fieldsOf(contract)) {
    const name = required.name.value
    const found = fields.get(name)
    if (found === undefined) schemaError(type, `${goal} it must have a field called ${name}.`)
    if (!isCovariant(required.type, found.type, symbols)) {
      schemaError(found, `${goal} the field ${name} must have type ${print(required.type)}.`)
    }
    checkArguments(required, found, goal)
  }
}

function checkArguments(required: MemberField, found: MemberField, goal: string): void {
  const field = required.name.value
  const wanted = byName(argumentsOf(required))
  const given = byName(argumentsOf(found))
  for (const [name, argument] of wanted) {
    const same = given.get(name)
    const problem = `${goal} the field ${field} must have the same arguments but`
    if (same === undefined) schemaError(found, `${problem} it is missing ${name}.`)
    if (!isCompatible(argument.type, same.type)) schemaError(same, `${problem} ${name} has the wrong type.`)
  }
  for (const [name, argument] of given) {
    const isRequired = argument.type.kind === Kind.NON_NULL_TYPE && argument.defaultValue === undefined
    if (wanted.has(name) || !isRequired) continue
    const problem = `must be optional or have a default value but ${name} is required.`
    schemaError(argument, `${goal} any additional arguments on ${field} ${problem}`)
  }
}

/** A type implements what its interfaces implement. */
function checkAncestors(
  type: TypeDefinitionNode,
  contract: TypeDefinitionNode,
  own: ReadonlySet<string>,
): void {
  const [name, interfaceName] = [type.name.value, contract.name.value]
  for (const ancestor of interfacesOf(contract)) {
    if (own.has(ancestor)) continue
    if (ancestor === name) {
      schemaError(
        type,
        `Type ${name} cannot implement ${interfaceName} because it would create a circular reference.`,
      )
    }
    schemaError(
      type,
      `Type ${name} must implement ${ancestor} because it is implemented by ${interfaceName}.`,
    )
  }
}

function isCovariant(required: TypeNode, actual: TypeNode, symbols: SchemaSymbols): boolean {
  if (required.kind === Kind.NON_NULL_TYPE) {
    return actual.kind === Kind.NON_NULL_TYPE && isCovariant(required.type, actual.type, symbols)
  }
  const nullable = actual.kind === Kind.NON_NULL_TYPE ? actual.type : actual
  if (required.kind === Kind.LIST_TYPE) {
    return nullable.kind === Kind.LIST_TYPE && isCovariant(required.type, nullable.type, symbols)
  }
  return nullable.kind === Kind.NAMED_TYPE && symbols.isSubstitute(nullable.name.value, required.name.value)
}

/** Whether an argument may have `actual` where the interface has `required`: the same, or nullable where that is not. */
function isCompatible(required: TypeNode, actual: TypeNode): boolean {
  if (required.kind === Kind.NON_NULL_TYPE) {
    return isCompatible(required.type, actual.kind === Kind.NON_NULL_TYPE ? actual.type : actual)
  }
  if (required.kind === Kind.LIST_TYPE) {
    return actual.kind === Kind.LIST_TYPE && isCompatible(required.type, actual.type)
  }
  return actual.kind === Kind.NAMED_TYPE && actual.name.value === required.name.value
}

function byName(args: readonly InputValueDefinitionNode[]): ReadonlyMap<string, InputValueDefinitionNode> {
  return new Map(args.map((argument) => [argument.name.value, argument]))
}
