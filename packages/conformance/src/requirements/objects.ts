import { andOfAgent, andOfObjects, inObjects, inService, type Requirement, unseen } from './requirement.ts'

export const OBJECT_REQUIREMENTS: readonly Requirement[] = [
  andOfAgent(andOfObjects(inService('OBJ-01', 'Identifiers have their prefix and the shared tail.'))),
  inObjects('OBJ-02', 'The members created_by and trace contain what is named and nothing more.'),
  andOfAgent(inObjects('OBJ-03', 'An object that lacks a member of the common envelope is invalid.')),
  andOfAgent(inObjects('OBJ-04', 'An object with an unknown top-level member is invalid.')),
  andOfAgent(inObjects('OBJ-05', 'A reasoning package follows the rule of each of its fields.')),
  inObjects('OBJ-06', 'A response object follows the rule of each of its fields.'),
  inObjects('OBJ-07', 'A policy envelope follows the rule of each of its fields and belongs to no thread.'),
  inObjects('OBJ-08', 'A loop thread follows the rule of each of its fields.'),
  inObjects('OBJ-09', 'A network story follows the rule of each of its fields.'),
  {
    id: 'OBJ-10',
    sentence: 'An audit event follows the rule of each of its fields, also inside evidence.',
    judgedOf: ['objects', 'service'],
  },
  andOfAgent(inObjects('OBJ-11', 'A confidence score lies between 0 and 1.')),
  inObjects('OBJ-12', 'References in one list are distinct.'),
  andOfAgent(inObjects('OBJ-13', 'A deadline or next update is not before the creation of its object.')),
  inObjects('OBJ-14', 'A policy that forbids forwarding names nobody to forward to.'),
  andOfAgent(inObjects('OBJ-15', 'Days and versions are not below their minimum.')),
  andOfAgent(inObjects('OBJ-16', 'A package names its policy and a non-empty approval.')),
  inObjects('OBJ-17', 'A closed loop thread does not allow a response as its next phase.'),
  unseen(
    'OBJ-18',
    'Validator, types and API description come from one published set of schemas.',
    'where schemas come from shows in source code only; their address is not fixed',
  ),
  andOfAgent(andOfObjects(inService('OBJ-19', 'Times are RFC 3339, and timestamps are in UTC.'))),
]
