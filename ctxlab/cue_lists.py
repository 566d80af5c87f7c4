"""The words by which cues are recognised: one list per language and class, phrases apart by `|`.

`*` stands for any ending of a word, `^` for the beginning of the text.
Words are compared without regard to case. Phrases of Chinese and Japanese are found anywhere, the others as whole words.
Words that mean something else in another of the languages are left out: without a language tag all lists apply.
"""

from __future__ import annotations

CUE_LISTS_VERSION = 1

SUBSTRING_LANGUAGES = frozenset({"zh", "ja"})
"""Languages written without spaces."""

CUE_LISTS: dict[str, dict[str, str]] = {
    "en": {
        "constraint": (
            "must|mustn't|shall|never|only|always|at most|at least|at the most|at the latest|at a minimum|at a maximum|"
            "no more than|no less than|no fewer than|no later than|no longer than|no larger than|no earlier than|"
            "not more than|not less than|not later than|not exceed|not to exceed|exceeds|may not|cannot|can not|can't|"
            "^do not|^don't|please do not|please don't|we don't want|and don't|but don't|so don't|don't ever|do not ever|"
            "does not allow|should not|shouldn't|has to|have to|needs to|need to|ought to|require*|"
            "mandatory|obligatory|compulsory|forbid*|forbidden|prohibit*|not allowed|not permitted|isn't allowed|"
            "aren't allowed|disallow*|limit|limits|limited|maximum|minimum|deadline*|constraint*|restrict*|"
            "under no circumstances|strictly|unless|except|nothing may|nobody may|no one may|up to|capped|policy|"
            "policies|from now on|make sure|ensure|as long as|provided that|ineligible|not eligible|exactly|mind that|"
            "is allowed|are allowed|allows|not before|not after|not until|without exception|has got to|upper bound|"
            "lower bound|budget of|quota*|refrain"
        ),
        "rejection": (
            "reject*|instead|rather than|not use|don't use|not using|not be used|never use|no longer|not any more|"
            "anymore|correction*|corrected|correct that|wrong|wrongly|incorrect*|mistaken|mistake|mistakes|mistakenly|"
            "obsolete|outdated|out of date|deprecate*|supersed*|replaced by|replaced with|replaces|in place of|"
            "withdraw|withdrew|withdrawn|withdraws|revoke*|retract*|rescind*|discard*|abandon*|ruled out|rule out|"
            "decided against|decide against|advise against|turned down|decline|declined|veto*|dismissed|scrap|scrapped|"
            "revert*|never mind|nevermind|scratch that|forget about|stop using|disregard|not an option|"
            "out of the question|no good|not valid|void|moved away from|move away from|changed my mind|"
            "in favor of|in favour of|was dropped|were dropped|dropped the|drop the|we dropped|overrid*|overrule*|"
            "not anymore|^actually|^no wait|^no actually|^wait|actually use|actually let's|actually make it|not correct|isn't correct|not right|isn't right|not the right|invalidated|"
            "won't use|will not use|used to be|amend*|undo|considered and|not go with|against using|previously said"
        ),
        "pending": (
            "pending|yet|yet to|still has|still have|still need|still needs|still open|still waiting|still missing|"
            "still to|still not|still must|stay open|stays open|remains open|remain open|must still|todo|todos|to-dos|"
            "outstanding|open point*|open item*|open question*|open issue*|open task*|open end*|remains to|remaining|"
            "waiting for|wait for|waits for|waiting on|awaiting|await|awaits|unfinished|incomplete|not done|"
            "not finished|not complete|not completed|not started|not tested|not ready|untested|unanswered|unsigned|"
            "hasn't been|has not been|haven't been|have not been|hasn't|next step*|follow up|follow-up|tbd|"
            "to be decided|to be determined|to be confirmed|to be changed|to be done|to be scheduled|to be signed|"
            "to be tested|unresolved|undecided|on hold|postpone*|deferred|in progress|left to|needs to be|has to be|"
            "have to be|need to be|don't forget|do not forget|remember to|under review|blocked by|blocked on|"
            "unscheduled|not scheduled|not merged|not deployed|not approved|not signed|not answered|up next|backlog"
        ),
        "decision": (
            "decide|decided|decides|decision*|agreed|we agree|chose|chosen|choose|we'll use|we will use|we use|let's use|"
            "let us use|going with|go with|went with|settled on|settle on|opt for|opted for|selected|picked|the plan is|"
            "plan is|approved|adopt|adopted|prefer|preferred|conclude*|conclusion*|resolved to|resolution|finalize*|"
            "finalise*|stick with|sticking with|stick to|switch to|switched to|switching to|it is then|sign off|"
            "signed off|accepted|determined that|i'll use|i will use|let's go|final choice|final answer|opting for"
        ),
        "failure": (
            "fail|fails|failed|failing|failure*|error*|exception*|crash*|bug|bugs|buggy|broken|broke|breaks|breakage|"
            "timeout*|timed out|times out|denied|refused|abort*|panic|panics|panicked|traceback*|not working|"
            "doesn't work|does not work|did not work|didn't work|won't start|unable to|could not|couldn't|not found|"
            "missing|invalid|fault|faults|faulty|defect*|incident*|outage*|regression*|problem|problems|warning*|"
            "conflict|conflicts|corrupt*|leak|leaks|leaked|deadlock*|segfault*|segmentation fault|out of memory|"
            "exit code|unreachable|unavailable|malfunction*|twice|duplicate*|went wrong|goes wrong|unexpected|"
            "unsuccessful*|unfortunately|rejected by the"
        ),
        "status": (
            "done|finished|complete|completed|completes|passed|passes|passing|succeeded|success|successful|successfully|"
            "deployed|merged|released|fixed|resolved|closed|running|ready|implemented|tested|verified|confirmed|created|"
            "updated|installed|works|working|is now|are now|now at|currently|status|started|stopped|enabled|disabled|"
            "cancelled|canceled|scheduled|submitted|shipped|delayed|set to|is set|in production|up and running|"
            "applied|removed|renamed|added|migrated|rolled back|rolled out|is written|was written|so far|as of|noted|"
            "is open|is closed|in effect|live"
        ),
        "reason": (
            "because|due to|so that|therefore|thus|hence|reason|reasons|cause|causes|caused|root cause|as a result|"
            "in order to|that's why|that is why|which is why|owing to|given that|consequently|rationale|stems from|"
            "results from|leads to|explains why|as it|since it|since the|since we|since you|since they|since this|"
            "on account of|the point is|otherwise|which means|this means|so we|motivat*"
        ),
    },
    "pt": {
        "constraint": (
            "deve|devem|deverá|deverão|devemos|tem que|têm que|tem de|temos que|precisa|precisam|precisamos|nunca|"
            "jamais|somente|apenas|só|sempre|no máximo|no mínimo|pelo menos|ao menos|não mais que|não mais do que|"
            "não menos que|até o limite|não pode|não podem|não podemos|não deve|não devem|não exceder|não ultrapass*|"
            "obrigatóri*|obrigad*|proibi*|vedad*|é permitido|não é permitido|permite|permitem|limite*|limitad*|máximo|"
            "mínimo|prazo*|restri*|exig*|requisito*|requer*|a menos que|salvo|exceto|em hipótese alguma|"
            "sem exceção|a partir de agora|certifique*|garanta|garantir|exatamente|não antes|não depois|impreterivelmente"
        ),
        "rejection": (
            "rejeit*|recus*|descart*|em vez|ao invés|no lugar|não usar|não use|não usamos|não utilizar|não vamos usar|"
            "não mais|já não|deixou de|deixa de|deixar de|correção|corrigi*|corrij*|errad*|incorret*|engan*|equivocad*|"
            "obsolet*|ultrapassad*|desatualizad*|substituíd*|substitui|substituir|substituindo|revog*|anulad*|cancelamos|"
            "retirad*|abandon*|desist*|preterid*|esquece|esqueça|esquecer isso|deixa pra lá|não vale mais|não é válido|"
            "na verdade|melhor não|contra o uso|fora de questão|mudei de ideia|mudamos de ideia|pensando melhor"
        ),
        "pending": (
            "pendente*|pendência*|ainda não|ainda falta|ainda faltam|falta|faltam|faltando|por fazer|a fazer|em aberto|"
            "aberto|aguard*|esperando|à espera|resta|restam|restante*|inacabad*|incomplet*|não foi feit*|"
            "não foi testad*|não está pront*|não testad*|sem resposta|próximo passo|próximos passos|a definir|"
            "a confirmar|adiad*|em andamento|em análise|em espera|precisa ser|precisam ser|tem que ser|não esque*|"
            "lembre*|sem assinatura|ainda precisa|ainda tem"
        ),
        "decision": (
            "decid*|decisão|decisões|acord*|combinad*|combinamos|concord*|escolh*|optamos|optou|optei|vamos usar|"
            "usaremos|vamos com|ficamos com|ficou definid*|definimos|definid*|aprovad*|aprovamos|adot*|preferimos|prefiro|preferiu|preferid*|preferível|conclu*|"
            "resolvemos|fechamos|fica decidid*|aceit*|selecionad*"
        ),
        "failure": (
            "falh*|erro|erros|exceção|exceções|quebrad*|quebrou|quebra|travou|trava|não funciona|não funcionou|"
            "não consegu*|não foi possível|não encontrad*|defeito*|problema*|incidente*|estourou|tempo esgotado|negad*|"
            "inválid*|ausente|corrompid*|duplicad*|aviso*|deu errado|interromp*|indisponível|infelizmente|regressão|bug|bugs"
        ),
        "status": (
            "pronto|pronta|feito|feita|concluíd*|concluiu|concluímos|finaliz*|terminad*|terminou|terminei|terminamos|passou|passaram|sucesso|implantad*|"
            "implementad*|testad*|verificad*|confirmad*|criad*|atualizad*|instalad*|funcionando|funciona|rodando|"
            "atualmente|agora está|status|situação|iniciad*|parado|parada|parados|ativad*|desativad*|cancelad*|agendad*|enviad*|"
            "resolvid*|corrigido|fechad*|publicad*|até agora|removid*|adicionad*"
        ),
        "reason": (
            "porque|pois|por causa|devido|já que|uma vez que|visto que|portanto|assim|motivo*|razão|razões|causa|"
            "causad*|causou|para que|a fim de|por isso|por essa razão|em consequência|consequentemente|senão|"
            "caso contrário|graças a"
        ),
    },
    "es": {
        "constraint": (
            "debe|deben|debemos|deberá|deberán|debería|tiene que|tienen que|tenemos que|hay que|nunca|jamás|solo|sólo|"
            "solamente|únicamente|siempre|como máximo|como mínimo|a lo sumo|al menos|por lo menos|no más de|no menos de|"
            "no puede|no pueden|no podemos|no debe|no deben|no exceder|no superar|no supere|obligatori*|obligad*|"
            "prohib*|está permitido|no está permitido|permite|permiten|límite*|limitad*|máximo|mínimo|plazo*|"
            "restring*|restric*|exig*|requisito*|requier*|a menos que|salvo|excepto|bajo ningún concepto|sin excepción|"
            "a partir de ahora|de ahora en adelante|asegúr*|garanti*|exactamente|no antes|no después|necesita|necesitan"
        ),
        "rejection": (
            "rechaz*|descart*|en vez de|en lugar de|en su lugar|no usar|no uses|no use|no usamos|no utilizar|no vamos a usar|"
            "ya no|deja de|dejar de|dejó de|corrección|corregi*|corrig*|equivocad*|erróne*|incorrect*|obsolet*|"
            "anticuad*|desactualizad*|sustituid*|reemplazad*|reemplaza|sustituye|revoc*|anulad*|retirad*|abandon*|"
            "desist*|olvida|olvídalo|olvídate|no vale|no es válido|en realidad|mejor no|queda fuera|fuera de cuestión|"
            "cambié de idea|cambiamos de idea|pensándolo mejor|fue un error|está mal"
        ),
        "pending": (
            "pendiente*|aún no|todavía no|aún falta|todavía falta|falta|faltan|por hacer|queda por|quedan por|sin terminar|"
            "en espera|a la espera|esperando|esperamos|inacabad*|incomplet*|abiert*|no se ha|no está list*|no probad*|"
            "sin probar|sin respuesta|sin firmar|siguiente paso|próximo paso|próximos pasos|por definir|por confirmar|"
            "aplazad*|pospuest*|en curso|en revisión|resta|restan|restante*|no olvides|no olvidar|recuerda|"
            "tiene que ser|aún hay que|todavía hay que"
        ),
        "decision": (
            "decid*|decisión|decisiones|acord*|acuerdo|eleg*|elig*|escog*|optamos|optó|vamos a usar|usaremos|nos quedamos|"
            "vamos con|definimos|definid*|aprobad*|aprobamos|adopt*|preferimos|prefiero|prefirió|preferid*|preferible|conclu*|resolvimos|acept*|"
            "seleccionad*|queda decidid*"
        ),
        "failure": (
            "falla|fallan|fallar|fallado|fallando|falló|fallaron|fallo|fallos|error|errores|excepción|excepciones|roto|rotos|rompió|colgó|colgad*|no funciona|no funcionó|no se pudo|"
            "no pudo|no pude|no se encontró|no encontrad*|defecto*|problema*|incidente*|incidencia*|tiempo agotado|"
            "denegad*|inválid*|ausente|corrupt*|duplicad*|aviso*|advertencia*|salió mal|interrump*|no disponible|"
            "desafortunadamente|lamentablemente|regresión"
        ),
        "status": (
            "listo|listos|está lista|están listas|hech*|terminad*|terminó|finaliz*|completad*|completo|completa|pasó|pasaron|éxito|desplegad*|implementad*|"
            "probad*|verificad*|confirmad*|cread*|actualizad*|instalad*|funciona|funcionando|en marcha|actualmente|"
            "ahora está|estado|iniciad*|detenid*|activad*|desactivad*|cancelad*|programad*|enviad*|resuelt*|corregido|"
            "cerrad*|publicad*|hasta ahora|eliminad*|añadid*"
        ),
        "reason": (
            "porque|pues|ya que|debido|puesto que|dado que|por lo tanto|por tanto|así que|motivo*|razón|razones|causa|"
            "causad*|causó|para que|a fin de|por eso|por ello|en consecuencia|por consiguiente|de lo contrario|gracias a"
        ),
    },
    "de": {
        "constraint": (
            "muss|müssen|musst|müsst|soll|sollen|sollte|darf nicht|dürfen nicht|darf nur|dürfen nur|darf kein*|dürfen kein*|"
            "nie|niemals|nur|immer|höchstens|mindestens|maximal|minimal|maximum|nicht mehr als|nicht weniger als|nicht länger als|"
            "spätestens|frühestens|keinesfalls|auf keinen fall|unter keinen umständen|nicht überschreiten|überschreit*|"
            "pflicht|verpflicht*|verbindlich|zwingend|verboten|verbiet*|untersagt|nicht erlaubt|nicht zulässig|"
            "unzulässig|erlaubt|grenze|grenzwert*|obergrenze|begrenz*|beschränk*|einschränk*|frist*|vorgabe*|anforderung*|"
            "erforder*|voraussetz*|notwendig|es sei denn|außer|ausgenommen|ausnahmslos|ab jetzt|ab sofort|von nun an|"
            "sicherstellen|genau|ausschließlich|lediglich|bis zu|nicht vor|nicht nach|kann nicht|können nicht|nicht verwendet werden"
        ),
        "rejection": (
            "abgelehnt|ablehn*|lehnen|lehnt|verworfen|verwerf*|verwirf|stattdessen|statt|anstatt|anstelle|nicht verwenden|"
            "nicht benutzen|nicht nutzen|verwenden nicht|nutzen nicht|nicht mehr|nicht länger|gilt nicht|korrektur*|korrigier*|berichtig*|falsch*|"
            "fehlerhaft*|irrtum|irrtümlich*|versehentlich|veraltet*|überholt|ersetzt|ersetzen|abgelöst|zurückgezogen|"
            "zurückgenommen|widerruf*|aufgehoben|ungültig|hinfällig|gestrichen|aufgegeben|ausgeschlossen|dagegen entschieden|"
            "doch nicht|vergiss|kommt nicht in frage|scheidet aus|keine option|eigentlich|lieber nicht|verzicht*|gegen den einsatz"
        ),
        "pending": (
            "offen|offene|offenen|offener|noch nicht|noch kein*|noch zu|noch aus|steht aus|stehen aus|steht noch|stehen noch|"
            "muss noch|müssen noch|fehlt|fehlen|fehlt noch|ausstehend*|anstehend*|warten auf|wartet auf|warte auf|"
            "unerledigt*|unfertig*|unvollständig*|ungetestet|unbeantwortet|ungeklärt|nicht fertig|nicht getestet|nicht abgeschlossen|"
            "zu erledigen|nächster schritt|nächste schritte|nächsten schritte|verschoben|vertagt|in arbeit|in bearbeitung|in prüfung|"
            "übrig|verbleibend*|zu klären|bisher nicht|bislang nicht|nicht vergessen|denk daran|sobald"
        ),
        "decision": (
            "entschied*|entscheid*|beschloss*|beschließ*|beschluss|beschlüsse|vereinbar*|einigten|geeinigt|einig|gewählt|wählen|"
            "ausgewählt|festgelegt|legen fest|wir nehmen|wir nutzen|wir verwenden|wir benutzen|bleiben bei|bleibt es bei|"
            "genehmigt|freigegeben|angenommen|übernommen|bevorzug*|fazit|schlussfolger*|setzen auf|umgestellt auf|steigen um|einverstanden"
        ),
        "failure": (
            "fehler*|fehlgeschlagen|fehlschlag*|schlug fehl|schlägt fehl|gescheitert|scheitert*|ausnahme|absturz|abstürz*|"
            "abgestürzt|kaputt|defekt*|störung*|ausfall|ausgefallen|zeitüberschreitung|abgebrochen|abbruch|verweigert|"
            "abgewiesen|funktioniert nicht|geht nicht|klappt nicht|konnte nicht|konnten nicht|nicht gefunden|nicht möglich|"
            "nicht erreichbar|problem*|beschädigt|doppelt*|warnung*|schief|leider|vorfall|vorfälle|regression*"
        ),
        "status": (
            "fertig*|erledigt|abgeschlossen|beendet|bestanden|erfolgreich*|erfolg|ausgerollt|eingespielt|zusammengeführt|"
            "veröffentlicht|behoben|gelöst|geschlossen|läuft|bereit|umgesetzt|implementiert|getestet|geprüft|bestätigt|"
            "angelegt|erstellt|aktualisiert|installiert|funktioniert|derzeit|aktuell|zurzeit|momentan|inzwischen|jetzt auf|"
            "gestartet|gestoppt|aktiviert|deaktiviert|storniert|geplant|gesendet|geschrieben|bisher|entfernt|hinzugefügt|notiert"
        ),
        "reason": (
            "weil|denn|deshalb|deswegen|daher|darum|somit|folglich|aufgrund|auf grund|wegen|grund dafür|der grund|gründe*|"
            "ursache*|verursach*|damit|um zu|infolge|demzufolge|andernfalls|ansonsten|sonst|nämlich|zumal|liegt daran|dank"
        ),
    },
    "fr": {
        "constraint": (
            "doit|doivent|devons|devez|devra|devront|faut|il faut|ne doit|ne doivent|ne peut|ne peuvent|ne pas|jamais|"
            "seulement|uniquement|toujours|au plus|au maximum|au minimum|au moins|pas plus de|pas moins de|"
            "au plus tard|au plus tôt|ne pas dépasser|dépass*|n'excède*|obligatoire*|obligation*|impérati*|interdi*|"
            "défendu|pas autorisé*|non autorisé*|autorisé*|permet|limite|limites|limité*|plafond*|maximum|minimum|délai*|"
            "échéance*|contrainte*|restrict*|restreint*|exig*|requis|requise|requises|nécessaire*|à moins que|sauf|excepté|en aucun cas|"
            "sans exception|désormais|dorénavant|à partir de maintenant|assurez|assure-toi|veillez|exactement|strictement|jusqu'à"
        ),
        "rejection": (
            "rejet*|refus*|écart*|au lieu|à la place|plutôt que|ne pas utiliser|n'utilis*|ne plus|n'est plus|ne sont plus|"
            "ne vaut plus|ne s'applique plus|correction*|corrigé*|corriger|corrige|rectifi*|erroné*|incorrect*|faux|fausse|fausses|"
            "trompé*|s'est trompé|par erreur|obsolète*|périmé*|dépassé|dépassée|remplacé*|remplace|annulé*|retiré*|révoqué*|abandonn*|"
            "renonc*|exclu|exclue|exclus|oubliez|oublie|laisse tomber|pas valable|plus valable|plus valide|en fait|hors de question|"
            "changé d'avis|pas une option|mieux vaut ne pas|c'était une erreur|pas le bon|pas la bonne"
        ),
        "pending": (
            "en attente|attend|attendons|attends|attendre|pas encore|reste à|restent à|il reste|restant*|à faire|à finir|à terminer|"
            "en cours|en suspens|inachevé*|incomplet*|incomplète*|non terminé*|pas terminé*|pas fini*|non testé*|pas testé*|sans réponse|"
            "non signé*|non résolu*|prochaine étape|prochaines étapes|à définir|à confirmer|à valider|reporté*|différé*|"
            "ouvert|ouverts|ouverte|ouvertes|manque|manquent|doit encore|doivent encore|n'a pas encore|n'oubli*|à traiter|à venir"
        ),
        "decision": (
            "décid*|décision*|convenu*|d'accord|accord|choisi*|choix|opté|optons|retenu*|nous utilisons|on utilise|utiliserons|on prend|"
            "on garde|on part sur|va utiliser|allons utiliser|approuvé*|validé|validée|validés|adopt*|préfér*|conclu*|arrêté que|tranché*|accepté*|sélectionné*"
        ),
        "failure": (
            "échou*|échec*|erreur*|exception*|planté*|plantage*|cassé*|panne*|bogue*|bug|bugs|ne fonctionne pas|ne marche pas|"
            "n'a pas fonctionné|n'a pas pu|n'ont pas pu|impossible*|introuvable*|pas trouvé*|défaut*|défaillan*|problème*|incident*|"
            "délai dépassé|expiré*|invalide*|manquant*|corrompu*|doublon*|dupliqué*|avertissement*|interrompu*|indisponible*|"
            "malheureusement|régression*"
        ),
        "status": (
            "terminé*|fini|finie|finis|achevé*|fait|faite|prêt|prête|prêts|réussi*|succès|passé avec|passent|déployé*|fusionné*|publié*|"
            "résolu*|fermé*|clos|implémenté*|testé*|vérifié*|confirmé*|créé*|mis à jour|mise à jour|installé*|fonctionne|"
            "marche|actuellement|maintenant à|est maintenant|statut|état|démarré*|arrêté*|activé*|désactivé*|planifié*|envoyé*|"
            "supprimé*|ajouté*|jusqu'ici|noté"
        ),
        "reason": (
            "parce que|parce qu'*|puisque|puisqu'*|en raison|à cause|du fait|étant donné|donc|ainsi|par conséquent|raison|raisons|cause|"
            "causé*|provoqu*|afin de|afin que|pour que|c'est pourquoi|voilà pourquoi|grâce à|sinon|faute de|motif*"
        ),
    },
    "ru": {
        "constraint": (
            "долж*|обязан*|обязательн*|необходимо|нужно|надо|следует|никогда|только|лишь|всегда|не более|не менее|не больше|"
            "не меньше|не позднее|не раньше|не ранее|максим*|миним*|самое большее|по крайней мере|нельзя|запрещ*|запрет*|"
            "не допуска*|недопустим*|не разреш*|разреш*|не превыша*|превыша*|лимит*|предел*|огранич*|срок*|требу*|требован*|"
            "услови*|если не|кроме|за исключением|исключительно|ни в коем случае|ни при каких|строго|отныне|с этого момента|"
            "с этих пор|ровно|до тех пор|не мож*|не могут|убедитесь|следите"
        ),
        "rejection": (
            "отклон*|отверг*|отказ*|вместо|а не|не использ*|не будем использ*|больше не|уже не|исправл*|исправит*|поправк*|поправля*|"
            "неправильн*|неверн*|ошибочн*|по ошибке|ошиблись|ошибся|ошиблась|устарел*|неактуальн*|замен*|отмен*|отозва*|аннулир*|"
            "снят*|брос*|исключен*|исключён*|забудь*|недействительн*|не подход*|не годит*|передумал*|не вариант|на самом деле|"
            "решили не|решил не|лучше не|утратил*"
        ),
        "pending": (
            "ещё не|еще не|пока не|пока нет|ещё нет|еще нет|осталось|остаётся|остается|остались|оставш*|ожида*|ждём|ждем|ждет|ждёт|жду|"
            "в ожидании|незаверш*|незаконч*|не законч*|не заверш*|не готов*|не протестир*|не проверен*|без ответа|"
            "следующий шаг|следующие шаги|предстоит|отлож*|в процессе|в работе|на рассмотрении|не решен*|не решён*|открыт*|"
            "не забу*|нужно ещё|нужно еще|надо ещё|надо еще|должен ещё|не подписан*|не запланирован*|недостающ*|не хватает|доделать"
        ),
        "decision": (
            "решил*|решено|решени*|решаем|договорил*|согласован*|согласны|согласен|согласовали|выбра*|выбор|выбираем|"
            "будем использовать|используем|остановил*|останавливаемся|утвержд*|утверди*|одобр*|принят*|приняли|предпоч*|предпочита*|"
            "вывод|выводы|заключ*|переходим на|перешли на"
        ),
        "failure": (
            "ошибк*|сбой|сбои|сбоя|сбоев|не удал*|неудач*|провал*|исключени*|упал*|падает|пада*|сломал*|сломан*|не работа*|"
            "не запуска*|не найден*|не смог*|невозможно|отказано|тайм-аут*|таймаут*|истек*|истёк*|дефект*|проблем*|"
            "инцидент*|авари*|неисправн*|поврежд*|дубл*|дважды|предупрежден*|недоступ*|отсутству*|прерван*|регресси*|"
            "к сожалению|баг|баги"
        ),
        "status": (
            "готов|готова|готово|готовы|сделан*|завершен*|завершён*|завершил*|закончен*|законч*|прошел|прошёл|прошла|прошли|успешн*|"
            "успех|развернут*|развёрнут*|влит*|выпущен*|исправлен*|закрыт*|работает|запущен*|реализован*|протестирован*|"
            "проверен*|подтвержд*|создан*|обновл*|установл*|сейчас|теперь|в настоящее время|статус|состояни*|начат*|остановлен*|"
            "включен*|включён*|выключен*|запланирован*|отправлен*|написан*|удален*|удалён*|добавлен*|на данный момент"
        ),
        "reason": (
            "потому что|потому|так как|поскольку|из-за|поэтому|причин*|вызван*|вызва*|следовательно|в результате|"
            "вследствие|ввиду|в связи с|чтобы|для того чтобы|благодаря|иначе|ибо|значит|по этой причине"
        ),
    },
    "zh": {
        "constraint": (
            "必须|必須|务必|一定要|不得|不能|不可以|不可|不准|不许|禁止|严禁|只能|只有|仅限|仅能|只可|最多|至多|最少|至少|不超过|不超過|不多于|"
            "不少于|不低于|不高于|上限|下限|最大|最小|限制|限额|限定|约束|要求|需要|须|应当|应该|从不|绝不|永远不|始终|总是|截止|期限|除非|"
            "除了|否则不|从现在起|从今以后|今后|确保|保证|以内|不晚于|不早于|不允许|不要|切勿|请勿|强制|恰好"
        ),
        "rejection": (
            "拒绝|否决|驳回|放弃|弃用|不采用|不使用|不用|不再|而不是|代替|替代|取代|改为|改成|改用|换成|更正|纠正|订正|修正|错误的|是错的|"
            "错了|弄错|搞错|不正确|不对|有误|过时|作废|废弃|废除|撤回|撤销|取消了|失效|无效|已被替换|算了|其实|反对|排除|不考虑|不可行|不选"
        ),
        "pending": (
            "待定|待办|待处理|待确认|待完成|待批|待签|有待|等待|等候|尚未|还没|还未|仍未|仍需|还需|还要|未完成|未测试|未解决|未回复|未决|没有完成|"
            "没完成|剩余|剩下|遗留|下一步|接下来|暂缓|推迟|搁置|进行中|审批中|审核中|处理中|挂起|悬而未决|别忘|不要忘|记得"
        ),
        "decision": (
            "决定|决议|确定|选定|选择|选用|采用|定为|定下|敲定|同意|商定|约定|批准|通过了|采纳|方案是|结论|我们用|我们使用|就用|最终选|倾向于|达成一致"
        ),
        "failure": (
            "失败|错误|报错|出错|异常|崩溃|故障|超时|中断|中止|拒绝访问|找不到|未找到|不存在|缺失|缺少|无法|不能正常|不工作|坏了|损坏|冲突|"
            "问题|缺陷|漏洞|警告|重复|泄漏|死锁|事故|回归|遗憾|不可用|没成功|未成功"
        ),
        "status": (
            "完成|已完成|做完|结束|成功|通过|已部署|上线|已合并|已发布|已修复|修复|解决了|已解决|关闭|运行中|正在运行|就绪|准备好|已实现|"
            "已测试|已验证|已确认|创建|更新|已安装|正常|目前|当前|现在|状态|已启动|已停止|已启用|已禁用|已取消|已安排|已提交|已发送|已写|已删除|已添加|至今"
        ),
        "reason": (
            "因为|由于|所以|因此|因而|原因|理由|起因|根因|导致|造成|引起|为了|以便|以免|否则|从而|于是|鉴于|既然|多亏"
        ),
    },
    "ja": {
        "constraint": (
            "必ず|必須|なければならない|なければなりません|なければいけない|ねばならない|しなくてはならない|しなくてはいけません|べき|てはならない|"
            "てはなりません|てはいけない|てはいけません|禁止|厳禁|のみ|だけ|に限る|に限り|限定|最大|最小|最低|最高でも|多くても|少なくとも|以内|"
            "以下|以上|未満|超えない|超えてはならない|上限|下限|制限|制約|条件|要件|要求|必要|期限|締め切り|締切|までに|決して|絶対に|常に|許可されない|"
            "許可されていない|認められない|できません|できない|しないで|ないでください|ない限り|を除き|以外|今後は|これからは|必ずしも|ちょうど|義務"
        ),
        "rejection": (
            "却下|拒否|否決|不採用|採用しない|採用しません|使わない|使いません|使用しない|使用しません|やめ|代わりに|かわりに|ではなく|じゃなく|もう使|"
            "もはや|訂正|修正します|修正：|誤り|間違い|間違って|間違え|誤って|正しくない|正しくは|違います|廃止|非推奨|古い|時代遅れ|置き換え|"
            "差し替え|取り消|取消|撤回|破棄|無効|見送|断念|あきらめ|除外|対象外|変更します|に変更|実は|いえ、|選ばない|不要"
        ),
        "pending": (
            "未定|未完了|未対応|未解決|未回答|未着手|未実施|未テスト|未承認|未署名|まだ|保留|待ち|待って|待つ|残って|残り|残る|残件|残タスク|これから|"
            "予定です|次のステップ|次は|今後の|要確認|要対応|確認中|審査中|承認待ち|進行中|対応中|延期|先送り|課題|忘れず|忘れない|宿題|途中"
        ),
        "decision": (
            "決定|決め|決まり|決まっ|選択|選び|選定|採用|することに|ことにし|合意|同意|承認|賛成|方針|結論|確定|使うことに|使用することに|にします|でいきます|了承|採択"
        ),
        "failure": (
            "失敗|エラー|例外|クラッシュ|障害|故障|不具合|バグ|タイムアウト|中断|異常|落ち|動かない|動作しない|動きません|見つからない|見つかりません|"
            "存在しない|存在しません|できなかった|できませんでした|欠落|欠け|破損|競合|問題|警告|重複|リーク|デッドロック|事故|インシデント|残念|不可能|不正"
        ),
        "status": (
            "完了|終了|終わり|終わっ|済み|済んだ|成功|合格|通過|デプロイ|マージ|リリース|修正済|解決し|解決済|クローズ|実行中|稼働|準備|実装し|実装済|"
            "テスト済|確認し|確認済|作成し|更新し|インストール|正常|現在|今は|状態|状況|開始し|停止し|有効|無効化|キャンセル|予約|送信し|提出|書きました|削除し|追加し|これまで"
        ),
        "reason": (
            "なぜなら|から、|からです|ため|ので|理由|原因|よって|したがって|従って|ゆえに|そのため|だから|ですから|によって|により|引き起こ|ように|おかげ|"
            "せいで|さもないと|その結果|というのも"
        ),
    },
}
"""The lists by language, then by class."""
