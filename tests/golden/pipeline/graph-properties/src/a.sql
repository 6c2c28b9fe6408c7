CREATE MATERIALIZED VIEW a TBLPROPERTIES ('pipelines.reset.alowed' = 'false') AS SELECT a FROM s;
CREATE MATERIALIZED VIEW b TBLPROPERTIES ('pipelines.reset.allowed' = 'no') AS SELECT a FROM s;
CREATE MATERIALIZED VIEW c TBLPROPERTIES ('delta.enableChangeDataFed' = 'true') AS SELECT a FROM s;
CREATE MATERIALIZED VIEW d TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true') AS SELECT a FROM s;
CREATE MATERIALIZED VIEW e TBLPROPERTIES ('tidegate.pipelineId' = 'x') AS SELECT a FROM s;
CREATE MATERIALIZED VIEW f TBLPROPERTIES ('delta.targetFileSize' = '1', 'delta.appendOnly' = 'false') AS SELECT a FROM s;
CREATE MATERIALIZED VIEW g TBLPROPERTIES ('delta.targetFileSize' = '1') AS SELECT a FROM s;
