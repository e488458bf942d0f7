-- Of which run a run is a child, in its scope. That of earlier runs is taken from their first event,
-- where it is the last member but one, or the last: nothing of the program's own can stand there.

ALTER TABLE ww_run ADD COLUMN parent_run_id VARCHAR(128);

UPDATE ww_run r SET parent_run_id = (
  SELECT REGEXP_SUBSTR(
           UTF8TOSTRING(SUBSTRING(e.body FROM GREATEST(1, OCTET_LENGTH(e.body) - 999))),
           '"parent":"([A-Za-z0-9_.:-]+)"(?:,"life":[{][^{}]*[}])?[}]$', 1, 1, '', 1)
    FROM ww_event e
    WHERE e.run = r.id AND e.sequence = 1 AND e.type = 'RunStarted' AND e.codec = 1);
