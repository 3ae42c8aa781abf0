import { Kind, print } from 'graphql'
import type {
  ConstDirectiveNode,
  DirectiveDefinitionNode,
  DocumentNode,
  InputValueDefinitionNode,
  NameNode,
  TypeDefinitionNode,
  TypeNode,
} from 'graphql'

import { compareStrings } from '../../../../lib/text/compare-strings.js'
import {
  argumentsOf,
  definitionKind,
  enumValuesOf,
  fieldsOf,
  interfacesOf,
  memberTypesOf,
} from './definition-kinds.js'
import type { DefinitionKind, MemberField } from './definition-kinds.js'
import { SchemaSymbols } from './schema-symbols.js'
import { schemaError } from './source-position.js'

const INPUT_KINDS: readonly DefinitionKind[] = ['SCALAR', 'ENUM', 'INPUT_OBJECT']
const OUTPUT_KINDS: readonly DefinitionKind[] = ['SCALAR', 'OBJECT', 'INTERFACE', 'UNION', 'ENUM']
const RESERVED_VALUES: ReadonlySet<string> = new Set(['true', 'false', 'null'])

/**
 * Returns the symbols of a schema. Throws BuiltinError with OPA's message for the first of
 * gqlparser's rules that the schema breaks. The package's rules differ: it also requires a query
 * type and refuses unknown extensions.
 */
export function checkSchema(document: DocumentNode): SchemaSymbols {
  const symbols = new SchemaSymbols(document)
  checkRoots(document, symbols)
  for (const type of byName(symbols.types)) checkType(type, symbols)
  for (const directive of byName(symbols.directives)) checkDirective(directive, symbols)
  return symbols
}

function byName<T>(nodes: ReadonlyMap<string, T>): T[] {
  return [...nodes].sort(([a], [b]) => compareStrings(a, b)).map(([, node]) => node)
}

function checkRoots({ definitions }: DocumentNode, symbols: SchemaSymbols): void {
  const schemas = definitions.filter((node) => node.kind === Kind.SCHEMA_DEFINITION)
  const [, second] = schemas
  if (second !== undefined) {
    schemaError(second, 'Cannot have multiple schema entry points, consider schema extensions instead.')
  }
  const extensions = definitions.filter((node) => node.kind === Kind.SCHEMA_EXTENSION)
  for (const root of [...schemas, ...extensions].flatMap(({ operationTypes }) => operationTypes ?? [])) {
    const name = root.type.name.value
    if (symbols.kindOf(name) !== undefined) continue
    schemaError(root, `Schema root ${root.operation} refers to a type ${name} that does not exist.`)
  }
}

function checkType(type: TypeDefinitionNode, symbols: SchemaSymbols): void {
  checkFields(type, symbols)
  for (const member of memberTypesOf(type)) {
    const kind = symbols.kindOf(member)
    if (kind === undefined) schemaError(type, `Undefined type ${JSON.stringify(member)}.`)
    if (kind !== 'OBJECT') schemaError(type, `UNION type ${JSON.stringify(member)} must be OBJECT.`)
  }
  checkInterfaces(type, symbols)
  checkMembers(type, symbols)
  checkFieldsAreUnique(type)
  checkName(type.name, type)
  checkDirectives(type.directives, definitionKind(type), symbols)
}

function checkFields(type: TypeDefinitionNode, symbols: SchemaSymbols): void {
  const isInput = definitionKind(type) === 'INPUT_OBJECT'
  for (const field of fieldsOf(type)) {
    checkName(field.name, field)
    checkTypeReference(field.type, symbols)
    checkArguments(argumentsOf(field), symbols)
    checkDirectives(field.directives, isInput ? 'INPUT_FIELD_DEFINITION' : 'FIELD_DEFINITION', symbols)
  }
}

/** A type must have members of the permitted kinds. */
function checkMembers(type: TypeDefinitionNode, symbols: SchemaSymbols): void {
  const kind = definitionKind(type)
  const title = `${kind} ${type.name.value}`
  if (kind === 'ENUM') {
    if (enumValuesOf(type).length === 0) {
      schemaError(type, `${title}: must define one or more unique enum values.`)
    }
    const reserved = enumValuesOf(type).find((value) => RESERVED_VALUES.has(value))
    if (reserved !== undefined) schemaError(type, `${title}: non-enum value ${reserved}.`)
  }
  if (kind !== 'OBJECT' && kind !== 'INTERFACE' && kind !== 'INPUT_OBJECT') return
  const isInput = kind === 'INPUT_OBJECT'
  const allowed = isInput ? INPUT_KINDS : OUTPUT_KINDS
  if (fieldsOf(type).length === 0) {
    schemaError(type, `${title}: must define one or more ${isInput ? 'input ' : ''}fields.`)
  }
  for (const field of fieldsOf(type)) {
    const fieldKind = symbols.kindOf(namedType(field.type))
    if (fieldKind === undefined || allowed.includes(fieldKind)) continue
    const subject = isInput ? `${fieldKind} ${field.name.value}` : title
    schemaError(field, `${subject}: field must be one of ${allowed.join(', ')}.`)
  }
}

function checkFieldsAreUnique(type: TypeDefinitionNode): void {
  const names = new Set<string>()
  for (const field of fieldsOf(type)) {
    const name = field.name.value
    if (names.has(name)) schemaError(field, `Field ${type.name.value}.${name} can only be defined once.`)
    names.add(name)
  }
}

function checkDirective(directive: DirectiveDefinitionNode, symbols: SchemaSymbols): void {
  checkName(directive.name, directive)
  checkArguments(directive.arguments ?? [], symbols, directive.name.value)
}

function checkArguments(
  args: readonly InputValueDefinitionNode[],
  symbols: SchemaSymbols,
  within?: string,
): void {
  for (const argument of args) {
    checkName(argument.name, argument)
    checkTypeReference(argument.type, symbols)
    const kind = symbols.kindOf(namedType(argument.type))
    if (kind !== undefined && !INPUT_KINDS.includes(kind)) {
      const [type, name] = [print(argument.type), argument.name.value]
      schemaError(
        argument,
        `cannot use ${type} as argument ${name} because ${kind} is not a valid input type`,
      )
    }
    checkDirectives(argument.directives, 'ARGUMENT_DEFINITION', symbols, within)
  }
}

function checkDirectives(
  directives: readonly ConstDirectiveNode[] | undefined,
  location: string,
  symbols: SchemaSymbols,
  within?: string,
): void {
  for (const directive of directives ?? []) {
    const name = directive.name.value
    checkName(directive.name, directive)
    if (name === within) schemaError(directive, `Directive ${name} cannot refer to itself.`)
    const locations = symbols.locationsOf(name)
    if (locations === undefined) schemaError(directive, `Undefined directive ${name}.`)
    if (!locations.includes(location)) {
      schemaError(directive, `Directive ${name} is not applicable on ${location}.`)
    }
  }
}

function checkTypeReference(type: TypeNode, symbols: SchemaSymbols): void {
  const name = namedType(type)
  if (symbols.kindOf(name) === undefined) schemaError(type, `Undefined type ${name}.`)
}

function checkName({ value }: NameNode, node: Parameters<typeof schemaError>[0]): void {
  if (!value.startsWith('__')) return
  schemaError(node, `Name "${value}" must not begin with "__", which is reserved by GraphQL introspection.`)
}

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type)
}

/** Throws BuiltinError if a type does not conform to an interface that it declares. */
function checkInterfaces(type: TypeDefinitionNode, symbols: SchemaSymbols): void {
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
    checkFieldArguments(required, found, goal)
  }
}

function checkFieldArguments(required: MemberField, found: MemberField, goal: string): void {
  const field = required.name.value
  const wanted = argumentsByName(argumentsOf(required))
  const given = argumentsByName(argumentsOf(found))
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

/** A type must implement the interfaces of its interfaces. */
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

/** Returns true for the same type, or a nullable variant of the required one. */
function isCompatible(required: TypeNode, actual: TypeNode): boolean {
  if (required.kind === Kind.NON_NULL_TYPE) {
    return isCompatible(required.type, actual.kind === Kind.NON_NULL_TYPE ? actual.type : actual)
  }
  if (required.kind === Kind.LIST_TYPE) {
    return actual.kind === Kind.LIST_TYPE && isCompatible(required.type, actual.type)
  }
  return actual.kind === Kind.NAMED_TYPE && actual.name.value === required.name.value
}

function argumentsByName(
  args: readonly InputValueDefinitionNode[],
): ReadonlyMap<string, InputValueDefinitionNode> {
  return new Map(args.map((argument) => [argument.name.value, argument]))
}
